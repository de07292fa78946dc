/** The package in a browser: it fetches the module from beside this file, where bundlers put it. */

import { Engine } from "../src/engine.ts";
import { library } from "./library.ts";

export const { check, explain, load } = library(async () => {
  const response = await fetch(new URL("./addrspec.wasm", import.meta.url));
  if (!response.ok) throw new Error(`addrspec.wasm: status ${response.status}`);
  const { module, instance } = await instantiate(response);
  return new Engine(module, instance);
});

/** Compiles the module while it loads; for that, the server must send application/wasm. */
async function instantiate(response: Response): Promise<WebAssembly.WebAssemblyInstantiatedSource> {
  if (response.headers.get("Content-Type") === "application/wasm") {
    return WebAssembly.instantiateStreaming(response, {});
  }
  return WebAssembly.instantiate(await response.arrayBuffer(), {});
}
