/**
 * Makes tsc check that the package has exactly the functions that index.d.ts and
 * the other files .d.ts declare. Nothing imports this file.
 */

import type * as element from "./element.ts";
import type * as declaredElement from "./email-element.d.ts";
import type * as declaredSchema from "./email-schema.d.ts";
import type * as declared from "./index.d.ts";
import type { library } from "./library.ts";
import type * as lists from "./lists.ts";
import type * as schema from "./schema.ts";
import type * as declaredLists from "./signed-lists.d.ts";

type Same<A, B> = A extends B ? (B extends A ? true : false) : false;

export const conforms: Same<ReturnType<typeof library>, typeof declared> = true;
export const listsConform: Same<typeof lists, typeof declaredLists> = true;
export const schemaConforms: Same<typeof schema, typeof declaredSchema> = true;
export const elementConforms: Same<
  keyof element.AddrspecEmail,
  keyof declaredElement.AddrspecEmail
> = true;
