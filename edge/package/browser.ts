/** The package in a browser: it fetches the module from beside this file, where bundlers put it. */

import { library } from "./library.ts";
import { engineOf } from "./source.ts";

export const { check, checkMany, explain, load, setLists } = library(() =>
  engineOf(new URL("./addrspec.wasm", import.meta.url)),
);
