/** Plans GET /v1/email/{email}. */

import type { Check } from "./engine.ts";
import { DETAILS, type Facts, isClassed, TooLong } from "./instance.ts";
import { type Plan, planProblem } from "./plan.ts";
import { isPolicyName } from "./policies.ts";
import { isProblem, type Problem, problem } from "./problem.ts";
import { SENTENCES } from "./problems.ts";
import { result } from "./result.ts";
import { count, type Tally } from "./tally.ts";
import { percentDecode, percentEncode } from "./target.ts";

/** The origin's HTTP server refuses such a path, in its own words. */
const BROKEN_PERCENT =
  "A percent sign in the path is not followed by two hexadecimal digits; encode a percent sign as %25.";

/** Plans the validation of the address in the path, which is percent-encoded. */
export function planSingle(check: Check, encoded: string, query: string): Plan {
  if (encoded === "") return planProblem(problem("MISSING_EMAIL", SENTENCES.noAddress));
  const email = percentDecode(encoded);
  if (email === undefined) return planProblem(problem("INVALID_EMAIL_FORMAT", BROKEN_PERCENT));
  const flags = queryDetails(query);
  if (flags === undefined) return planProblem(problem("INVALID_REQUEST", SENTENCES.wrongDetails));
  const policy = queryPolicy(query);
  if (policy === null) return planProblem(problem("INVALID_REQUEST", SENTENCES.wrongPolicy));
  const facts = factsOrProblem(check, email, flags);
  if (isProblem(facts)) return planProblem(facts, policy);
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
    policy,
    finish: ([lookup = { mx: false }], decide) => ({
      status: 200,
      body: result(facts, lookup, decide),
    }),
  };
}

function factsOrProblem(check: Check, email: string | Uint8Array, flags: number): Facts | Problem {
  try {
    const facts = check(email, flags);
    if (facts.refusal === null) return facts;
    return problem("INVALID_EMAIL_FORMAT", toSentence(facts.refusal.sentence));
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

/** Returns the policy that the query asks for; undefined for none, null if it is malformed. */
export function queryPolicy(query: string): string | undefined | null {
  const [given, ...more] = parameters(query, "policy");
  if (given === undefined) return undefined;
  const name = given.slice("policy=".length);
  return more.length === 0 && isPolicyName(name) ? name : null;
}

/** Returns the parameters of a query with a name, as they were sent. */
function parameters(query: string, name: string): string[] {
  const all = query.slice(1).split("&");
  return all.filter((parameter) => parameter === name || parameter.startsWith(`${name}=`));
}

/**
 * Returns the target that asks the origin for the same, in a form that fetch does not change;
 * undefined if there is none, since the origin's HTTP server refuses it. Other parameters are
 * left out.
 */
export function singleTarget(encoded: string, query: string): string | undefined {
  const email = percentDecode(encoded);
  if (email === undefined) return undefined;
  const segment = percentEncode(email);
  // fetch would remove a dot segment. Three dots are none, and get the same response.
  const path = segment === "." || segment === ".." ? "..." : segment;
  const kept = [...parameters(query, "details"), ...parameters(query, "policy")].join("&");
  return `/v1/email/${path}${kept === "" ? "" : `?${kept.replaceAll("#", "%23")}`}`;
}

/** Adds a capital and a full stop to the module's clause. */
function toSentence(clause: string): string {
  return clause === ""
    ? SENTENCES.notValid
    : `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
