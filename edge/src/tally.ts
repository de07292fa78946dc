/**
 * Counts addresses by kind, for the account's usage history at the origin, which
 * gets these counts because it does not get the addresses.
 */

import { FACT, type Facts } from "./instance.ts";

/** The number of addresses of each kind; a count of 0 is left out. */
export type Tally = Partial<Record<Kind, number>>;

type Kind = "invalid" | (typeof KINDS)[number];

/** The facts that are counted. */
const KINDS = ["valid", "role", "gibberish", "disposable", "public", "relay", "typo"] as const;

/** Adds one address to the tally. */
export function count(tally: Tally, { set, refusal }: Facts): void {
  if (refusal !== null) add(tally, "invalid"); // no other kind applies
  for (const kind of KINDS) {
    if ((set & FACT[kind]) !== 0) add(tally, kind);
  }
}

function add(tally: Tally, kind: Kind): void {
  tally[kind] = (tally[kind] ?? 0) + 1;
}
