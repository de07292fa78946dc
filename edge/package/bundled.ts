/** The package with the module inside the code, where esbuild puts its bytes: `addrspec/bundled`. */

import wasm from "./addrspec.wasm" with { type: "bytes" };
import { engineOf, library } from "./library.ts";

export const { check, checkMany, explain, load, PolicyRefused, setLists, verdict, verdictMany } =
  library(() => engineOf(wasm));
