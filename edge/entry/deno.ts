/**
 * Runs the worker on Deno, with the settings and LISTEN=HOST:PORT in the environment:
 *
 *     deno run --allow-net --allow-env --allow-read deno.js
 */

import { listening, listenOf, readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { keepFresh } from "../src/feed.ts";
import { Worker } from "../src/worker.ts";

declare const Deno: {
  readonly env: { toObject(): Record<string, string> };
  readFileSync(path: URL): Uint8Array<ArrayBuffer>;
  unrefTimer(id: number): void;
  serve(options: object, handler: (request: Request) => Promise<Response>): unknown;
};

const env = Deno.env.toObject();
const engine = new Engine(
  new WebAssembly.Module(Deno.readFileSync(new URL("addrspec.wasm", import.meta.url))),
);
const worker = new Worker({ engine, config: readConfig(env) });
if (worker.lists !== undefined) {
  keepFresh(worker.lists, (timer) => Deno.unrefTimer(Number(timer)));
}

const listen = listenOf(env);
const onListen = ({ port }: { port: number }) => console.log(listening(listen.hostname, port));
Deno.serve({ ...listen, onListen }, (request) => worker.fetch(request, request.signal));
