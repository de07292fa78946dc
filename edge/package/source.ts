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
  const { module, instance } = await WebAssembly.instantiate(bytesOf(source), {});
  return new Engine(module, instance);
}

/** V8 takes no DataView. */
function bytesOf(source: unknown): ArrayBuffer | Uint8Array<ArrayBuffer> {
  if (source instanceof ArrayBuffer) return source;
  if (ArrayBuffer.isView(source))
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  throw wrong("source", "bytes, a Response, a WebAssembly.Module or a URL", source);
}

function instantiate(module: WebAssembly.Module): Promise<WebAssembly.Instance> {
  return WebAssembly.instantiate(module, {});
}

/** Compiles the module while it loads, if the server sends it as application/wasm. */
async function engineOfResponse(response: Response): Promise<Engine> {
  const type = response.headers.get("Content-Type") ?? "";
  if (!response.ok) throw absent(`status ${response.status}`);
  if (type.startsWith("text/html")) throw absent("a page"); // what development servers send instead
  if (type !== "application/wasm") return engineOf(await response.arrayBuffer());
  const { module, instance } = await WebAssembly.instantiateStreaming(response, {});
  return new Engine(module, instance);
}

function absent(got: string): Error {
  return new Error(
    `the server sent ${got} in place of addrspec.wasm; copy node_modules/addrspec/lib/addrspec.wasm`
      + " beside your script, or call load with a source",
  );
}
