/** Runs the worker as Vercel's Routing Middleware in its edge runtime, which compiles the module when it builds. */

import { Engine } from "../src/engine.ts";
import wasm from "./addrspec.wasm?module";
import { middleware } from "./vercel.ts";

export default middleware(new Engine(wasm));
