/**
 * Plans: what the worker decides about a validation before it asks the origin, and how the origin's
 * lookups become the response, whose results are the module's JSON, byte for byte.
 *
 * The worker parses only batches that it certainly parses as the origin does. All others go to
 * the origin, so the worker needs no error messages for bodies.
 */

import { concat, isJSON } from "./body.ts";
import type { Check } from "./engine.ts";
import { DETAILS, type Facts, isClassed, type Place, TooLong } from "./instance.ts";
import { SENTENCES } from "./problems.ts";
import { FACT } from "./report.ts";
import { type Problem, problemResponse, type WorkerResponse } from "./response.ts";
import { parameters } from "./route.ts";

/** What the origin found out about a domain. */
export interface Lookup {
  /** Null if the deadline passed before the lookup finished. */
  readonly mx: boolean | null | "DNS_TIMEOUT" | "DNS_FAILURE";
  /** The domain is disposable by its exchanges. */
  readonly disposable?: boolean | undefined;
  /** The value of exchange in the details, as JSON. */
  readonly exchange?: string | undefined;
}

export interface Domain {
  readonly name: string;
  /** The number of the plan's addresses at the domain; each costs a point. */
  readonly addresses: number;
  /** Its exchanges do not make it disposable. */
  readonly classed?: true | undefined;
  /** The counts of these addresses by kind. */
  readonly tally: Tally;
}

/**
 * An operation, decided as far as possible without the origin: what the origin
 * looks up and charges, and how its reply becomes the response.
 */
export interface Plan {
  readonly operation: "single" | "batch";
  /** 0 if the worker refuses the input: the origin still checks the key and the rate first. */
  readonly points: number;
  /** The counts of the addresses without a domain to look up; undefined if there are none. */
  readonly tally?: Tally | undefined;
  readonly domains: readonly Domain[];
  /** The client asked for details, which need the exchanges. */
  readonly details?: true | undefined;
  /** Returns the response, given the lookups of the domains in their order. */
  finish(lookups: readonly Lookup[]): WorkerResponse;
}

/** Plans a single validation that ends with this problem if the key and the rate are accepted. */
export function planProblem(problem: Problem): Plan {
  return { operation: "single", points: 0, domains: [], finish: () => problemResponse(problem) };
}

/** The origin's HTTP server refuses such a path, in its own words. */
const BROKEN_PERCENT =
  "A percent sign in the path is not followed by two hexadecimal digits; encode a percent sign as %25.";

/** Plans GET /v1/email/{email}; undefined is an address that is not well percent-encoded. */
export function planSingle(
  check: Check,
  email: string | Uint8Array | undefined,
  query: string,
): Plan {
  if (email === "") return planProblem({ code: "MISSING_EMAIL", message: SENTENCES.noAddress });
  if (email === undefined)
    return planProblem({ code: "INVALID_EMAIL_FORMAT", message: BROKEN_PERCENT });
  const flags = queryDetails(query);
  if (flags === undefined)
    return planProblem({ code: "INVALID_REQUEST", message: SENTENCES.wrongDetails });
  const checked = checkedOrProblem(check, email, flags);
  if ("code" in checked) return planProblem(checked);
  const tally: Tally = {};
  count(tally, checked);
  const { host: name } = checked;
  const classed = isClassed(checked) || undefined;
  return {
    operation: "single",
    points: 1,
    ...(name === ""
      ? { tally, domains: [] }
      : { domains: [{ name, addresses: 1, classed, tally }] }),
    details: checked.exchange === undefined ? undefined : true,
    finish: ([lookup = { mx: false }]) => ({ status: 200, body: result(checked, lookup) }),
  };
}

/** Returns the flag that the query asks for; undefined if it is malformed. */
export function queryDetails(query: string): number | undefined {
  const [value = "details=false", ...more] = parameters(query, "details");
  return more.length > 0 ? undefined : { "details=true": DETAILS, "details=false": 0 }[value];
}

/** The value of refusal in the details. A string in it has its quotation marks escaped. */
const REFUSAL = /,"details":\{"refusal":(\{.*?\}),"canonical":/s;

function checkedOrProblem(
  check: Check,
  email: string | Uint8Array,
  flags: number,
): Facts | Problem {
  try {
    const facts = check(email, flags);
    const { json, emailEnd, refusal } = facts;
    if (refusal === null) return facts;
    // The module's clause gets a capital and a full stop.
    const sentence = `${refusal.charAt(0).toUpperCase()}${refusal.slice(1)}.`;
    const details = flags === DETAILS ? new TextDecoder().decode(json.subarray(emailEnd)) : "";
    return {
      code: "INVALID_EMAIL_FORMAT",
      message: refusal === "" ? SENTENCES.notValid : sentence,
      refusal: REFUSAL.exec(details)?.[1],
    };
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    return { code: "INVALID_EMAIL_FORMAT", message: SENTENCES.addressTooLong };
  }
}

const MAX_UNIQUE = 64;

export interface BatchInput {
  /** 1 to 64 distinct addresses. */
  readonly emails: readonly string[];
  readonly details: boolean;
}

/**
 * Returns the content of a body that is exactly {"emails": [strings]}, with 1 to 64 distinct
 * strings, or has "details": true or false besides; undefined for any other body.
 */
export function parseBatch(headers: Headers, body: Uint8Array): BatchInput | undefined {
  // The origin refuses encodings, and stores the responses to requests with an Idempotency-Key.
  const isPlain = !headers.has("Content-Encoding") && !headers.has("Idempotency-Key");
  if (!isPlain || !isJSON(headers.get("Content-Type"))) return undefined;
  const { emails, details = false, ...others } = membersOf(body);
  if (typeof details !== "boolean" || Object.keys(others).length > 0) return undefined;
  if (!Array.isArray(emails) || !emails.every((email) => typeof email === "string"))
    return undefined;
  const distinct = [...new Set<string>(emails)];
  if (distinct.length < 1 || distinct.length > MAX_UNIQUE) return undefined;
  return { emails: distinct, details };
}

// ignoreBOM keeps a byte order mark in the text, where JSON.parse rejects it.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the members of a JSON object; none where the origin may read others. */
function membersOf(body: Uint8Array): Record<string, unknown> {
  try {
    const text = strict.decode(body);
    // JSON.parse hides a repeated member: it keeps the last.
    const isRepeated = (name: string) => text.indexOf(name) !== text.lastIndexOf(name);
    // An escaped surrogate may be a lone one, which the origin refuses.
    const isDoubtful = /\\u[dD][89a-fA-F]/.test(text);
    if (isDoubtful || isRepeated('"emails"') || isRepeated('"details"')) return {};
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Plans POST /v1/emails; arrival is when its request arrived, in ms. */
export function planBatch(check: Check, { emails, details }: BatchInput, arrival: number): Plan {
  const checked = emails.map((email) => check(email, details ? DETAILS : 0));
  const groups = new Map<string, { addresses: number; classed?: true | undefined; tally: Tally }>();
  for (const facts of checked) {
    const classed = isClassed(facts) || undefined; // alike for all addresses at a domain
    const group = groups.get(facts.host) ?? { addresses: 0, classed, tally: {} };
    groups.set(facts.host, group);
    group.addresses++;
    count(group.tally, facts);
  }
  const tally = groups.get("")?.tally;
  groups.delete("");
  const names = [...groups.keys()];
  return {
    operation: "batch",
    points: checked.length,
    tally,
    domains: Array.from(groups, ([name, group]) => ({ name, ...group })),
    details: details || undefined,
    finish(lookups) {
      const found = new Map(names.map((name, n) => [name, lookups[n] ?? { mx: null }]));
      // Without a domain to look up there is no MX.
      const items = checked.map(
        (facts) => [facts, found.get(facts.host) ?? { mx: false }] as const,
      );
      return { status: 200, body: envelope(items, Date.now() - arrival) };
    },
  };
}

/** Returns the JSON of the response, in the contract's order; its results are the finished items. */
function envelope(
  items: readonly (readonly [Facts, Lookup])[],
  milliseconds: number,
): Uint8Array<ArrayBuffer> {
  const finished = items.filter(([, { mx }]) => mx !== null);
  const failed = finished.filter(([, { mx }]) => typeof mx === "string").length;
  const valid = finished.filter(
    ([{ refusal }, { mx }]) => typeof mx !== "string" && refusal === null,
  ).length;
  const total = finished.length;
  const pieces: (string | Uint8Array)[] = [
    `{"success":true,"partial":${total < items.length},"total":${total},"valid_count":${valid}`,
    `,"invalid_count":${total - valid - failed},"error_count":${failed},"usage_points":${total}`,
    `,"processing_time_ms":${Math.max(0, Math.round(milliseconds))},"results":[`,
  ];
  for (const [n, [facts, lookup]] of finished.entries()) {
    const { json, emailEnd, host } = facts;
    // The facts begin with the address, {"email":"…", as the item does.
    pieces.push(n > 0 ? "," : "", json.subarray(0, emailEnd));
    if (typeof lookup.mx === "string") {
      const message = SENTENCES[lookup.mx === "DNS_TIMEOUT" ? "timedOut" : "lookupFailed"](host);
      // The domain is in A-label form and needs no escape.
      const error = `{"code":"${lookup.mx}","message":"${message}"}`;
      pieces.push(`,"status":"error","result":null,"error":${error}}`);
    } else {
      pieces.push(',"status":"success","result":', result(facts, lookup), ',"error":null}');
    }
  }
  pieces.push("]}");
  const encoder = new TextEncoder();
  return concat(pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece)));
}

const TRUE = new TextEncoder().encode("true");
const FALSE = new TextEncoder().encode("false");

/** Returns the result. It is written over the JSON of the facts if it fits. */
export function result(facts: Facts, lookup: Lookup): Uint8Array<ArrayBuffer> {
  let { json } = facts; // the last value first, since one of another length moves what follows
  if (facts.exchange !== undefined && lookup.exchange !== undefined) {
    json = write(json, facts.exchange, new TextEncoder().encode(lookup.exchange));
  }
  if (lookup.disposable === true) json = write(json, facts.disposable, TRUE);
  return write(json, facts.mx, lookup.mx === true ? TRUE : FALSE);
}

function write(
  json: Uint8Array<ArrayBuffer>,
  { at, length }: Place,
  value: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (value.length !== length)
    return concat([json.subarray(0, at), value, json.subarray(at + length)]);
  json.set(value, at);
  return json;
}

const KINDS = ["valid", "role", "gibberish", "disposable", "public", "relay", "typo"] as const;

/**
 * The number of addresses of each kind, for the account's usage history at the origin, which
 * gets these counts because it does not get the addresses. A count of 0 is left out.
 */
export type Tally = Partial<Record<"invalid" | (typeof KINDS)[number], number>>;

export function count(tally: Tally, { set, refusal }: Facts): void {
  if (refusal !== null) tally.invalid = (tally.invalid ?? 0) + 1; // no other kind applies
  for (const kind of KINDS) {
    if ((set & FACT[kind]) !== 0) tally[kind] = (tally[kind] ?? 0) + 1;
  }
}
