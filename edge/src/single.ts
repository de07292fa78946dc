/** GET /v1/email/{email} */

import type { Engine } from "./engine.ts";
import { type Finding, TooLong } from "./instance.ts";
import { type Plan, planRefusal } from "./plan.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import { SAY } from "./problems.ts";
import { join, result } from "./result.ts";
import { count, type Tally } from "./tally.ts";
import { percentDecode } from "./target.ts";

/** Plans the validation of the address in the path, which is percent-encoded. */
export function planSingle(engine: Engine, flags: number, encoded: string): Plan {
  const finding = check(engine, flags, encoded);
  if (isProblem(finding)) return planRefusal(finding);
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

function check(engine: Engine, flags: number, encoded: string): Finding | Problem {
  if (encoded === "") return problem("MISSING_EMAIL", SAY.noAddress);
  const email = percentDecode(encoded);
  if (email === undefined) return problem("INVALID_EMAIL_FORMAT", SAY.brokenPercent);
  try {
    const finding = engine.check(email, flags);
    return finding.refusal
      ? problem("INVALID_EMAIL_FORMAT", sentence(finding.refusal.sentence))
      : finding;
  } catch (failure) {
    if (!(failure instanceof TooLong)) throw failure;
    return problem("INVALID_EMAIL_FORMAT", SAY.addressTooLong);
  }
}

/** Makes the module's clause a sentence: a capital and a full stop. */
function sentence(clause: string): string {
  return clause === "" ? SAY.notValid : `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
