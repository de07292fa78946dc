/** The entry for Bun: `bun bun.js`, with the settings and LISTEN=HOST:PORT in the environment. */

import { readFileSync } from "node:fs";

import { readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { listenOf } from "../src/listen.ts";
import { Worker } from "../src/worker.ts";

declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch(request: Request): Promise<Response> }): unknown;
};

const engine = new Engine(new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url))));
const worker = new Worker({ engine, config: readConfig(process.env), fetch: (url, init) => fetch(url, init), log: (message) => console.error(message) });

// Bun closes a connection that is silent for 10 s; the origin may take longer.
Bun.serve({ ...listenOf(process.env), idleTimeout: 60, fetch: (request) => worker.fetch(request) });
