/** The batch envelope, in the contract's order of fields. */

import type { Finding } from "./instance.ts";
import type { MX } from "./plan.ts";
import { SAY } from "./problems.ts";
import { join, quotedEmail, result } from "./result.ts";

/** One address and its MX; null if it is unfinished. */
export interface Item {
  readonly finding: Finding;
  readonly mx: MX;
}

export function envelope(items: readonly Item[], milliseconds: number): Uint8Array<ArrayBuffer> {
  const finished = items.filter(({ mx }) => mx !== null);
  const failed = finished.filter(({ mx }) => typeof mx === "string").length;
  const valid = finished.filter(
    ({ finding, mx }) => typeof mx !== "string" && finding.refusal === null,
  ).length;
  const total = finished.length;
  const head =
    `{"success":true,"partial":${total < items.length},"total":${total},"valid_count":${valid}`
    + `,"invalid_count":${total - valid - failed},"error_count":${failed},"usage_points":${total}`
    + `,"processing_time_ms":${Math.max(0, Math.round(milliseconds))},"results":[`;
  const results = finished.flatMap((item, n) =>
    n > 0 ? [",", ...piecesOf(item)] : piecesOf(item),
  );
  return join([head, ...results, "]}"]);
}

function piecesOf({ finding, mx }: Item): (string | Uint8Array)[] {
  const email = ['{"email":', quotedEmail(finding)];
  if (typeof mx === "string") {
    // The domain is in A-label form and needs no escape.
    const message =
      mx === "DNS_TIMEOUT" ? SAY.timedOut(finding.host) : SAY.lookUpFailed(finding.host);
    return [
      ...email,
      `,"status":"error","result":null,"error":{"code":"${mx}","message":"${message}"}}`,
    ];
  }
  return [
    ...email,
    ',"status":"success","result":',
    ...result(finding, mx === true),
    ',"error":null}',
  ];
}
