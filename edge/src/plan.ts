import type { Answer } from "./answer.ts";
import { type Problem, refuse } from "./problem.ts";
import type { Tally } from "./tally.ts";

/** The origin's MX answer for a domain; null if a deadline passed before there was one. */
export type MX = boolean | null | "DNS_TIMEOUT" | "DNS_FAILURE";

/** A domain to ask for MX. */
export interface Domain {
  readonly name: string;
  /** How many of the points depend on it. */
  readonly addresses: number;
  /** What was found about these addresses. */
  readonly tally: Tally;
}

/**
 * An operation, decided as far as it can be without the origin: what the
 * origin is to look up and charge, and how to turn its reply into the answer.
 */
export interface Plan {
  readonly operation: "single" | "batch";
  /** 0 for an address that is refused: the origin still judges the key and the rate first. */
  readonly points: number;
  /** What was found about the addresses without a domain to ask; undefined if there are none. */
  readonly tally?: Tally | undefined;
  readonly domains: readonly Domain[];
  /** The answer, given the domains' MX in order. */
  finish(mx: readonly MX[]): Answer;
}

/** The plan for a single validation that is refused if the key and the rate are in order. */
export function planRefusal(bad: Problem): Plan {
  return { operation: "single", points: 0, domains: [], finish: () => refuse(bad) };
}
