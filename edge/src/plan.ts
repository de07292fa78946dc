import type { Answer } from "./answer.ts";
import { type Fault, refuse } from "./fault.ts";

/** What the origin says about a domain; null is what a deadline left undone. */
export type MX = boolean | null | "DNS_TIMEOUT" | "DNS_FAILURE";

/** A domain to ask for MX, and how many of the points hang on it. */
export interface Domain {
  readonly name: string;
  readonly addresses: number;
}

/**
 * An operation, decided as far as it can be without the origin: what the
 * origin is to admit and look up, and what to make of its answer.
 */
export interface Plan {
  readonly operation: "single" | "batch";
  /** 0 for input that is refused: the key and the rate come first all the same. */
  readonly points: number;
  readonly domains: readonly Domain[];
  /** The answer, given the domains' MX in order. */
  finish(mx: readonly MX[]): Answer;
}

/** The plan of an input that is refused once the key and the rate are known to be in order. */
export function planRefusal(operation: Plan["operation"], bad: Fault): Plan {
  return { operation, points: 0, domains: [], finish: () => refuse(bad) };
}
