/** The package in Node, Deno and Bun: the module is a file beside this one. */

import { readFile } from "node:fs/promises";

import { engineOf, library } from "./library.ts";

/** fetch of Node has no file URLs. */
const open = async (url: URL) => (url.protocol === "file:" ? readFile(url) : fetch(url));

export const { check, checkMany, explain, load, PolicyRefused, setLists, verdict, verdictMany } =
  library(() => engineOf(new URL("./addrspec.wasm", import.meta.url), open), open);
