/** The package in a browser: it fetches the module from beside this file, where bundlers put it. */

import { fetchEngine } from "./fetch.ts";
import { library } from "./library.ts";

export const { check, explain, load, setLists } = library(() =>
  fetchEngine(new URL("./addrspec.wasm", import.meta.url)),
);
