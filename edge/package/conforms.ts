/**
 * Makes tsc check that the package has exactly the functions that index.d.ts and
 * signed-lists.d.ts declare. Nothing imports this file.
 */

import type * as declared from "./index.d.ts";
import type { library } from "./library.ts";
import type * as lists from "./lists.ts";
import type * as declaredLists from "./signed-lists.d.ts";

type Same<A, B> = A extends B ? (B extends A ? true : false) : false;

export const conforms: Same<ReturnType<typeof library>, typeof declared> = true;
export const listsConform: Same<typeof lists, typeof declaredLists> = true;
