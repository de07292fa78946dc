/** Runs the worker as Vercel's Routing Middleware in its Node.js runtime. */

import { readFileSync } from "node:fs";
import { Engine } from "../src/engine.ts";
import { middleware } from "./vercel.ts";

// Vercel finds a file by this expression, and deploys it with the code.
const wasm = new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url)));

export default middleware(new Engine(wasm));
