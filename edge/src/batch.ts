/**
 * POST /v1/emails: parses a batch, plans it, and writes the response.
 *
 * The worker parses only batches that it certainly parses as the origin does. All others go to
 * the origin, so the worker needs no error messages for bodies.
 */

import { isJSON } from "./body.ts";
import type { Check } from "./engine.ts";
import { DETAILS, type Facts, isClassed } from "./instance.ts";
import { count, type Lookup, type Plan, type Tally } from "./plan.ts";
import { SENTENCES } from "./problems.ts";
import { join, quotedEmail, result } from "./result.ts";

/** The maximum number of distinct addresses in a batch. */
const MAX_UNIQUE = 64;

// ignoreBOM keeps a byte order mark in the text, where JSON.parse rejects it.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Headers that the origin handles: it refuses encodings and stores responses for Idempotency-Key. */
const ORIGIN_HEADERS = ["Content-Encoding", "Idempotency-Key"];

/** An escaped surrogate. It may be a lone one, which the origin refuses. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** The content of a batch. */
export interface BatchInput {
  /** 1 to 64 distinct addresses. */
  readonly emails: readonly string[];
  /** Whether results have the member details. */
  readonly details: boolean;
}

/**
 * Returns the content of a body that is exactly {"emails": [strings]}, with 1 to 64 distinct
 * strings, or has "details": true or false besides; undefined for any other body.
 */
export function parseBatch(headers: Headers, body: Uint8Array): BatchInput | undefined {
  if (!isJSON(headers.get("Content-Type")) || ORIGIN_HEADERS.some((name) => headers.has(name))) {
    return undefined;
  }
  const { emails, details = false, ...others } = membersOf(body);
  if (!isStrings(emails) || typeof details !== "boolean" || Object.keys(others).length > 0) {
    return undefined;
  }
  const distinct = [...new Set(emails)];
  if (distinct.length < 1 || distinct.length > MAX_UNIQUE) return undefined;
  return { emails: distinct, details };
}

/** Returns the members of a JSON object; none where the origin may read others. */
function membersOf(body: Uint8Array): Record<string, unknown> {
  try {
    const text = strict.decode(body);
    // JSON.parse hides a repeated member: it keeps the last.
    const isRepeated = (name: string) => text.indexOf(name) !== text.lastIndexOf(name);
    if (SURROGATE.test(text) || isRepeated('"emails"') || isRepeated('"details"')) return {};
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((email) => typeof email === "string");
}

/** Plans the batch; arrival is when its request arrived, in ms. */
export function planBatch(check: Check, { emails, details }: BatchInput, arrival: number): Plan {
  const checked = emails.map((email) => check(email, details ? DETAILS : 0));
  const { domains, tally } = groupByDomain(checked);
  const positions = new Map(domains.map(({ name }, n) => [name, n]));
  return {
    operation: "batch",
    points: checked.length,
    tally,
    domains,
    details: details || undefined,
    finish(lookups) {
      const items = checked.map(
        (facts): Item => ({
          facts,
          lookup: lookups[positions.get(facts.host) ?? -1] ?? defaultLookup(facts),
        }),
      );
      return { status: 200, body: envelope(items, Date.now() - arrival) };
    },
  };
}

/** Returns the lookup if the origin sent none: no MX without a domain to look up, else unfinished. */
function defaultLookup(facts: Facts): Lookup {
  return { mx: facts.host === "" ? false : null };
}

/** Returns the domains to look up, and the tally of the addresses without one. */
function groupByDomain(checked: readonly Facts[]): Pick<Plan, "domains" | "tally"> {
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
  return { tally, domains: Array.from(groups, ([name, group]) => ({ name, ...group })) };
}

/** The facts about one address and the lookup of its domain; mx is null if it is unfinished. */
interface Item {
  readonly facts: Facts;
  readonly lookup: Lookup;
}

/** Returns the JSON of the response, in the contract's order; its results are the finished items. */
function envelope(items: readonly Item[], milliseconds: number): Uint8Array<ArrayBuffer> {
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
    n > 0 ? [",", ...piecesOf(item)] : piecesOf(item),
  );
  return join([head, ...results, "]}"]);
}

function piecesOf({ facts, lookup }: Item): (string | Uint8Array)[] {
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
  return [...email, ',"status":"success","result":', result(facts, lookup), ',"error":null}'];
}
