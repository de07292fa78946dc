import type { Facts } from "./instance.ts";
import { type Problem, problemResponse } from "./problem.ts";
import type { WorkerResponse } from "./response.ts";
import type { Tally } from "./tally.ts";

/** The origin's MX result for a domain; null if the deadline passed before the lookup finished. */
export type MX = boolean | null | "DNS_TIMEOUT" | "DNS_FAILURE";

/** What the origin found out about a domain. */
export interface Lookup {
  readonly mx: MX;
  /** The domain is disposable by its exchanges. */
  readonly disposable?: boolean | undefined;
  /** The value of exchange in the details, as JSON. */
  readonly exchange?: string | undefined;
  /**
   * It has an address record and no MX records; null if the lookup of the record failed. Only
   * known for a policy that may ask for it.
   */
  readonly address?: boolean | null | undefined;
}

/** Returns the verdict on an address as UTF-8 JSON, given what was found about its domain. */
export type Decide = (facts: Facts, lookup: Lookup) => Uint8Array;

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
  /** The name of the policy that the client asked for; undefined for the key's default. */
  readonly policy?: string | undefined;
  /** Returns the response, given the lookups of the domains in their order; decide is undefined without a policy. */
  finish(lookups: readonly Lookup[], decide?: Decide): WorkerResponse;
}

/** Plans a single validation that ends with this problem if the key, the rate and the policy are accepted. */
export function planProblem(problem: Problem, policy?: string): Plan {
  const finish = () => problemResponse(problem);
  return { operation: "single", points: 0, domains: [], policy, finish };
}
