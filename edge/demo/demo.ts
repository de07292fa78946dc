/** The demo page: the live check, with the module that is in the page. */

import { library } from "../package/library.ts";
import { Engine } from "../src/engine.ts";
import { liveCheck } from "./livecheck.ts";

const { load } = library(async () => {
  const { module, instance } = await WebAssembly.instantiate(await embeddedModule(), {});
  return new Engine(module, instance);
});

/** Returns the module, which is in the page, compressed, so that the page also opens from disk. */
async function embeddedModule(): Promise<ArrayBuffer> {
  const url = `data:application/octet-stream;base64,${document.getElementById("wasm")?.textContent}`;
  const compressed = await fetch(url);
  const module = compressed.body?.pipeThrough(new DecompressionStream("gzip"));
  return new Response(module).arrayBuffer();
}

liveCheck(load);
document.getElementById("address")?.focus();
