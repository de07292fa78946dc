/** GET /v1/email/{email} */

import type { Engine } from "./engine.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import { type Finding, TooLong } from "./instance.ts";
import { type Plan, planRefusal } from "./plan.ts";
import { join, result } from "./result.ts";
import { count, type Tally } from "./tally.ts";
import { percentDecode } from "./target.ts";

/** Plans the validation of the address in the path, which is percent-encoded. */
export function planSingle(engine: Engine, flags: number, encoded: string): Plan {
  const finding = check(engine, flags, encoded);
  if (isFault(finding)) return planRefusal("single", finding);
  const tally: Tally = {};
  count(tally, finding);
  const { host } = finding;
  return {
    operation: "single",
    points: 1,
    ...(host === "" ? { tally, domains: [] } : { domains: [{ name: host, addresses: 1, tally }] }),
    finish: ([mx = false]) => ({ status: 200, body: join(result(finding, mx === true)) }),
  };
}

function check(engine: Engine, flags: number, encoded: string): Finding | Fault {
  if (encoded === "") {
    return fault("MISSING_EMAIL",
      "The path has no address: send GET /v1/email/{email}, the address percent-encoded.");
  }
  try {
    const finding = engine.check(percentDecode(encoded), flags);
    return finding.refusal ? fault("INVALID_EMAIL_FORMAT", sentence(finding.refusal.sentence)) : finding;
  } catch (failure) {
    if (!(failure instanceof TooLong)) throw failure;
    return fault("INVALID_EMAIL_FORMAT", "The address is far longer than an address can be (254 bytes).");
  }
}

/** Makes the module's clause a sentence: a capital and a full stop. */
function sentence(clause: string): string {
  return clause === "" ? "The address is not valid." : `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
