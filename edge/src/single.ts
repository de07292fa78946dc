/** GET /v1/email/{email} */

import type { Engine } from "./engine.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import { type Finding, TooLong } from "./instance.ts";
import { type Plan, planRefusal } from "./plan.ts";
import { join, result } from "./result.ts";
import { percentDecode } from "./target.ts";

/** Decides what to do about the address that stands percent-encoded in the path. */
export function planSingle(engine: Engine, flags: number, encoded: string): Plan {
  const finding = check(engine, flags, encoded);
  if (isFault(finding)) return planRefusal("single", finding);
  return {
    operation: "single",
    points: 1,
    domains: finding.host === "" ? [] : [{ name: finding.host, addresses: 1 }],
    finish: ([mx = false]) => ({ status: 200, body: join(result(finding, mx === true)) }),
  };
}

function check(engine: Engine, flags: number, encoded: string): Finding | Fault {
  if (encoded === "") {
    return fault("MISSING_EMAIL", "The path ends where the address should stand: GET /v1/email/{email}, the address percent-encoded.");
  }
  try {
    const finding = engine.check(percentDecode(encoded), flags);
    return finding.refusal ? fault("INVALID_EMAIL_FORMAT", sentence(finding.refusal.sentence)) : finding;
  } catch (failure) {
    if (!(failure instanceof TooLong)) throw failure;
    return fault("INVALID_EMAIL_FORMAT", "The address is far longer than an address can be (254 octets).");
  }
}

/** Makes the module's clause a sentence: a capital and a full stop. */
function sentence(clause: string): string {
  return clause === "" ? "The address is not valid." : `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
