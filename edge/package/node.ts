/** The package in Node, Deno and Bun: the module is a file beside this one. */

import { readFile } from "node:fs/promises";

import { Engine } from "../src/engine.ts";
import { library } from "./library.ts";

export const { check, explain, load, setLists } = library(async () => {
  const bytes = await readFile(new URL("./addrspec.wasm", import.meta.url));
  return new Engine(await WebAssembly.compile(bytes));
});
