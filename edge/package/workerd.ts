/** The package in Cloudflare Workers, where the module is part of the upload. */

import { Engine } from "../src/engine.ts";
import wasm from "./addrspec.wasm";
import { library } from "./library.ts";

export const { check, checkMany, explain, load, PolicyRefused, setLists, verdict, verdictMany } =
  library(() => Promise.resolve(new Engine(wasm)));
