/** GET /v1/email/{email}: plans it, or makes the target for the origin. */

import type { Check } from "./engine.ts";
import { DETAILS, type Facts, isClassed, TooLong } from "./instance.ts";
import { count, type Plan, planProblem, type Tally } from "./plan.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import { SENTENCES } from "./problems.ts";
import { quotedRefusal, result } from "./result.ts";
import { percentEncode } from "./target.ts";

/** The origin's HTTP server refuses such a path, in its own words. */
const BROKEN_PERCENT =
  "A percent sign in the path is not followed by two hexadecimal digits; encode a percent sign as %25.";

/** Plans the validation of an address; undefined is one that is not well percent-encoded. */
export function planSingle(
  check: Check,
  email: string | Uint8Array | undefined,
  query: string,
): Plan {
  if (email === "") return planProblem(problem("MISSING_EMAIL", SENTENCES.noAddress));
  if (email === undefined) return planProblem(problem("INVALID_EMAIL_FORMAT", BROKEN_PERCENT));
  const flags = queryDetails(query);
  if (flags === undefined) return planProblem(problem("INVALID_REQUEST", SENTENCES.wrongDetails));
  const facts = factsOrProblem(check, email, flags);
  if (isProblem(facts)) return planProblem(facts);
  const tally: Tally = {};
  count(tally, facts);
  const { host } = facts;
  return {
    operation: "single",
    points: 1,
    ...(host === ""
      ? { tally, domains: [] }
      : { domains: [{ name: host, addresses: 1, classed: isClassed(facts) || undefined, tally }] }),
    details: facts.exchange === undefined ? undefined : true,
    finish: ([lookup = { mx: false }]) => ({ status: 200, body: result(facts, lookup) }),
  };
}

function factsOrProblem(check: Check, email: string | Uint8Array, flags: number): Facts | Problem {
  try {
    const facts = check(email, flags);
    if (facts.refusal === null) return facts;
    const { sentence } = facts.refusal;
    return problem(
      "INVALID_EMAIL_FORMAT",
      // The module's clause gets a capital and a full stop.
      sentence === ""
        ? SENTENCES.notValid
        : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
      { refusal: flags === DETAILS ? quotedRefusal(facts) : undefined },
    );
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    return problem("INVALID_EMAIL_FORMAT", SENTENCES.addressTooLong);
  }
}

/**
 * Returns the flag that the query, with its question mark, asks for; undefined if it is malformed.
 * As at the origin, nothing is percent-decoded and other parameters are ignored.
 */
export function queryDetails(query: string): number | undefined {
  const values = parameters(query, "details");
  if (values.length === 0) return 0;
  if (values.length > 1) return undefined;
  return { "details=true": DETAILS, "details=false": 0 }[values[0] ?? ""];
}

/** Reports whether the query has a policy, which may be malformed. */
export function hasPolicy(query: string): boolean {
  return parameters(query, "policy").length > 0;
}

/** Returns the parameters of a query with a name, as they were sent. */
function parameters(query: string, name: string): string[] {
  const all = query.slice(1).split("&");
  return all.filter((parameter) => parameter === name || parameter.startsWith(`${name}=`));
}

/**
 * Returns the target that asks the origin for the same, in a form that fetch does not change.
 * Other parameters are left out.
 */
export function singleTarget(email: string | Uint8Array, query: string): string {
  const segment = percentEncode(email);
  // fetch would remove a dot segment. Three dots are none, and are no address for the same reason;
  // only the offset in the details differs.
  const path = segment === "." || segment === ".." ? "..." : segment;
  const kept = [...parameters(query, "details"), ...parameters(query, "policy")].join("&");
  return `/v1/email/${path}${kept === "" ? "" : `?${kept.replaceAll("#", "%23")}`}`;
}
