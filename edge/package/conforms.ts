/**
 * Makes tsc check that the package has exactly the functions that index.d.ts
 * declares. Nothing imports this file.
 */

import type * as declared from "./index.d.ts";
import type { library } from "./library.ts";

type Actual = ReturnType<typeof library>;
export const conforms: Actual extends typeof declared
  ? typeof declared extends Actual
    ? true
    : false
  : false = true;
