/** Makes tsc check that the package's parts have exactly what their files .d.ts declare. */

import type * as declaredClient from "./api-client.d.ts";
import type * as client from "./client.ts";
import type * as element from "./element.ts";
import type * as declaredElement from "./email-element.d.ts";
import type * as declaredSchema from "./email-schema.d.ts";
import type * as lists from "./lists.ts";
import type * as schema from "./schema.ts";
import type * as declaredLists from "./signed-lists.d.ts";

type Same<A, B> = A extends B ? (B extends A ? true : false) : false;

export const clientConforms: Same<keyof client.Client, keyof declaredClient.Client> = true;
export const clientErrorsConform: Same<client.PointsUsedUp, declaredClient.PointsUsedUp> = true;
export const listsConform: Same<typeof lists, typeof declaredLists> = true;
export const schemaConforms: Same<typeof schema, typeof declaredSchema> = true;
export const elementConforms: Same<
  keyof element.AddrspecEmail,
  keyof declaredElement.AddrspecEmail
> = true;
