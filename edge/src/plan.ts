/** Plans: what the worker decides about an operation before it asks the origin. */

import { FACT, type Facts } from "./instance.ts";
import { type Problem, problemResponse } from "./problem.ts";
import type { WorkerResponse } from "./response.ts";

/** The origin's MX result for a domain; null if the deadline passed before the lookup finished. */
export type MX = boolean | null | "DNS_TIMEOUT" | "DNS_FAILURE";

/** What the origin found out about a domain. */
export interface Lookup {
  readonly mx: MX;
  /** The domain is disposable by its exchanges. */
  readonly disposable?: boolean | undefined;
  /** The value of exchange in the details, as JSON. */
  readonly exchange?: string | undefined;
}

/** A domain whose MX records are looked up. */
export interface Domain {
  readonly name: string;
  /** The number of the plan's addresses at the domain; each costs a point. */
  readonly addresses: number;
  /** The lists have an entry for it, or it is misspelled: its exchanges do not make it disposable. */
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

/**
 * The number of addresses of each kind, for the account's usage history at the origin, which
 * gets these counts because it does not get the addresses. A count of 0 is left out.
 */
export type Tally = Partial<Record<"invalid" | (typeof KINDS)[number], number>>;

/** The facts that are counted. */
const KINDS = ["valid", "role", "gibberish", "disposable", "public", "relay", "typo"] as const;

/** Adds one address to the tally. */
export function count(tally: Tally, { set, refusal }: Facts): void {
  if (refusal !== null) tally.invalid = (tally.invalid ?? 0) + 1; // no other kind applies
  for (const kind of KINDS) {
    if ((set & FACT[kind]) !== 0) tally[kind] = (tally[kind] ?? 0) + 1;
  }
}
