/**
 * The package in the pages of origin/dashboard: the page says where the module is.
 * Bundled into origin/dashboard/assets/addrspec.js, which is committed, because
 * the origin is built without Node.
 */

import type { Checker } from "./index.d.ts";
import { engineOf, library } from "./library.ts";

/** Loads the module from url, which must be absolute. */
export function load(url: string): Promise<Checker> {
  return library(() => engineOf(new URL(url))).load();
}
