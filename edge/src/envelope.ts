/** Writes the response to a batch, with the fields in the contract's order. */

import type { Facts } from "./instance.ts";
import type { Decide, Lookup } from "./plan.ts";
import { SENTENCES } from "./problems.ts";
import { join, quotedEmail, result } from "./result.ts";

/** The facts about one address and the lookup of its domain; mx is null if it is unfinished. */
export interface Item {
  readonly facts: Facts;
  readonly lookup: Lookup;
}

/** Returns the JSON of the response; its results are the finished items. */
export function envelope(
  items: readonly Item[],
  milliseconds: number,
  decide?: Decide,
): Uint8Array<ArrayBuffer> {
  const finished = items.filter(({ lookup }) => lookup.mx !== null);
  const failed = finished.filter(({ lookup }) => typeof lookup.mx === "string").length;
  const valid = finished.filter(
    ({ facts, lookup }) => typeof lookup.mx !== "string" && facts.refusal === null,
  ).length;
  const total = finished.length;
  const head =
    `{"success":true,"partial":${total < items.length},"total":${total},"valid_count":${valid}`
    + `,"invalid_count":${total - valid - failed},"error_count":${failed},"usage_points":${total}`
    + `,"processing_time_ms":${Math.max(0, Math.round(milliseconds))},"results":[`;
  const results = finished.flatMap((item, n) =>
    n > 0 ? [",", ...piecesOf(item, decide)] : piecesOf(item, decide),
  );
  return join([head, ...results, "]}"]);
}

function piecesOf({ facts, lookup }: Item, decide?: Decide): (string | Uint8Array)[] {
  const { mx } = lookup;
  const email = ['{"email":', quotedEmail(facts)];
  if (typeof mx === "string") {
    // The domain is in A-label form and needs no escape.
    const message =
      mx === "DNS_TIMEOUT" ? SENTENCES.timedOut(facts.host) : SENTENCES.lookupFailed(facts.host);
    return [
      ...email,
      `,"status":"error","result":null,"error":{"code":"${mx}","message":"${message}"}}`,
    ];
  }
  const json = result(facts, lookup, decide);
  return [...email, ',"status":"success","result":', json, ',"error":null}'];
}
