/** The functions are those that index.d.ts declares: checked by tsc, part of nothing. */

import type * as declared from "./index.d.ts";
import type { library } from "./library.ts";

type Made = ReturnType<typeof library>;
export const conforms: Made extends typeof declared
  ? typeof declared extends Made
    ? true
    : false
  : false = true;
