/** The package in Next.js's edge runtime, which compiles a module only when it builds. */

import { Engine } from "../src/engine.ts";
import wasm from "./addrspec.wasm?module";
import { library } from "./library.ts";

export const { check, checkMany, explain, load, PolicyRefused, setLists, verdict, verdictMany } =
  library(() => Promise.resolve(new Engine(wasm)));
