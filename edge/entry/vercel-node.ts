/** Runs the worker as Vercel's Routing Middleware in its Node.js runtime. */

import { readFileSync } from "node:fs";
import { Engine } from "../src/engine.ts";
import { type Context, Isolate } from "./isolate.ts";

// Vercel finds a file by this expression, and deploys it with the code.
const wasm = new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url)));
const isolate = new Isolate(new Engine(wasm));
const { env } = process;

export default (request: Request, context: Context) => isolate.fetch(request, env, context);
