/** The package in a browser: the module is fetched from beside this file, as bundlers arrange it. */

import { Engine } from "../src/engine.ts";
import { library } from "./library.ts";

export const { check, explain, load } = library(async () => {
  const response = await fetch(new URL("./addrspec.wasm", import.meta.url));
  if (!response.ok) throw new Error(`addrspec.wasm: status ${response.status}`);
  const { module, instance } = await instantiate(response);
  return new Engine(module, instance);
});

/** Compiles while it loads, which a server allows by sending application/wasm. */
async function instantiate(response: Response): Promise<WebAssembly.WebAssemblyInstantiatedSource> {
  if (response.headers.get("Content-Type") === "application/wasm")
    return WebAssembly.instantiateStreaming(response, {});
  return WebAssembly.instantiate(await response.arrayBuffer(), {});
}
