/** The package in a browser: it fetches the module from beside this file, where bundlers put it. */

import { engineOf, library } from "./library.ts";

export const { check, checkMany, explain, load, PolicyRefused, setLists, verdict, verdictMany } =
  library(() => engineOf(unmoved(new URL("./addrspec.wasm", import.meta.url))));

/**
 * Vite's development server moves scripts to a cache, but not the files beside them. Other
 * URLs remain as they are: those of Turbopack have no scheme, so they cannot be parsed.
 */
function unmoved(url: URL): URL {
  const cached = "/node_modules/.vite/deps/";
  if (!url.href.includes(cached)) return url;
  return new URL(url.href.replace(cached, "/node_modules/addrspec/lib/"));
}
