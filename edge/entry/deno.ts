/**
 * The entry for Deno: `deno run --allow-net --allow-env --allow-read deno.js`,
 * with the settings and LISTEN=HOST:PORT in the environment.
 */

import { readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { listenOf } from "../src/listen.ts";
import { Worker } from "../src/worker.ts";

declare const Deno: {
  readonly env: { toObject(): Record<string, string> };
  readFileSync(path: URL): Uint8Array<ArrayBuffer>;
  serve(options: { hostname: string; port: number }, handler: (request: Request) => Promise<Response>): unknown;
};

const env = Deno.env.toObject();
const engine = new Engine(new WebAssembly.Module(Deno.readFileSync(new URL("addrspec.wasm", import.meta.url))));
const worker = new Worker({ engine, config: readConfig(env), fetch: (url, init) => fetch(url, init), log: (message) => console.error(message) });

Deno.serve(listenOf(env), (request) => worker.fetch(request));
