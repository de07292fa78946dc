/** Loads the module in a browser. */

import { Engine } from "../src/engine.ts";

/** Fetches the module from url and starts an engine with it. */
export async function fetchEngine(url: URL): Promise<Engine> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`addrspec.wasm: status ${response.status}`);
  const { module, instance } = await instantiate(response);
  return new Engine(module, instance);
}

/** Compiles the module while it loads; for that, the server must send application/wasm. */
async function instantiate(response: Response): Promise<WebAssembly.WebAssemblyInstantiatedSource> {
  if (response.headers.get("Content-Type") === "application/wasm") {
    return WebAssembly.instantiateStreaming(response, {});
  }
  return WebAssembly.instantiate(await response.arrayBuffer(), {});
}
