/** Starts an engine with a module that the caller has. */

import { Engine } from "../src/engine.ts";
import { wrong } from "./argument.ts";
import type { Source } from "./index.d.ts";

/** Opens a URL; each runtime has its own way. */
export type Open = (url: URL) => Promise<Response | Uint8Array>;

/** Compiles the module from its bytes, a response or a URL, or takes it compiled. */
export async function engineOf(source: Source, open: Open = fetch): Promise<Engine> {
  if (source instanceof WebAssembly.Module) return new Engine(source, await instantiate(source));
  if (source instanceof URL) return engineOf(await open(source), open);
  if (source instanceof Response) return engineOfResponse(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    const { module, instance } = await WebAssembly.instantiate(source as BufferSource, {});
    return new Engine(module, instance);
  }
  throw wrong("source", "bytes, a Response, a WebAssembly.Module or a URL", source);
}

function instantiate(module: WebAssembly.Module): Promise<WebAssembly.Instance> {
  return WebAssembly.instantiate(module, {});
}

/** Compiles the module while it loads, if the server sends it as application/wasm. */
async function engineOfResponse(response: Response): Promise<Engine> {
  if (!response.ok) throw new Error(`addrspec.wasm: status ${response.status}`);
  if (response.headers.get("Content-Type") !== "application/wasm")
    return engineOf(await response.arrayBuffer());
  const { module, instance } = await WebAssembly.instantiateStreaming(response, {});
  return new Engine(module, instance);
}
