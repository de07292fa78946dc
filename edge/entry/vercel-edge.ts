/** Runs the worker as Vercel's Routing Middleware in its edge runtime, which compiles the module when it builds. */

import { Engine } from "../src/engine.ts";
import wasm from "./addrspec.wasm?module";
import { type Context, Isolate } from "./isolate.ts";

const isolate = new Isolate(new Engine(wasm));
const { env } = process;

/** It is a middleware, and not a function behind a rewrite, because it gets the URL of the client. */
export default (request: Request, context: Context) => isolate.fetch(request, env, context);
