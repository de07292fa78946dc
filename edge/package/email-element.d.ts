/**
 * `<addrspec-email>`: checks the `<input type="email">` inside it. Importing `addrspec/element`
 * defines it; where there is no DOM, it does nothing.
 */

import type { Policy } from "./index.js";
import type { Messages } from "./schema.ts";

export type { EmailIssue, Messages } from "./schema.ts";

/** Each property is more than the attribute of the same meaning. */
export class AddrspecEmail extends HTMLElement {
  /** Attribute `policy`, JSON: what it blocks is not accepted; without one, as in the schema. */
  policy?: Policy | string | undefined;
  /** Attribute `allow-typo="false"`: a domain that looks misspelled is not accepted. */
  allowTypo?: boolean | undefined;
  /**
   * Attribute `messages`, a JSON object of texts by code. The text of the button that takes a
   * suggestion has the code "suggestion", one for a module that cannot be loaded has none.
   */
  messages?: Messages | undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    "addrspec-email": AddrspecEmail;
  }
}
