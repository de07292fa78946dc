/**
 * Runs the worker as a Netlify Edge Function, on Deno without files: the module is part
 * of the code, compressed.
 */

import type { Environment } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import compressed from "./addrspec.wasm?gzip";
import { type Context, Isolate } from "./isolate.ts";

declare const Netlify: { readonly env: { toObject(): Record<string, string> } };

const bytes = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
const isolate = new Isolate(
  new Engine(new WebAssembly.Module(await new Response(bytes).arrayBuffer())),
);
/** Read by the first request: when Netlify builds and imports this file, there is none. */
let env: Environment | undefined;

export default (request: Request, context: Context): Promise<Response> => {
  env ??= Netlify.env.toObject();
  return isolate.fetch(request, env, context);
};

export const config = { path: "/*" };
