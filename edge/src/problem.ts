/** Problems: the error answers of the contract. problems.ts has the table of their codes. */

import type { Answer } from "./answer.ts";
import { PROBLEMS } from "./problems.ts";

export type Code = keyof typeof PROBLEMS;

/** A problem that occurred. */
export interface Problem {
  readonly code: Code;
  readonly message: string;
  /** In place of the code's. */
  readonly status?: number;
  readonly retryAfter?: string;
  readonly allow?: string;
}

export function problem(
  code: Code,
  message: string,
  more: Omit<Problem, "code" | "message"> = {},
): Problem {
  return { code, message, ...more };
}

/** The 503 for an origin that gave no answer of the contract. */
export function unreached(): Problem {
  return problem(
    "REQUEST_CANCELLED",
    "The service cannot be reached at the moment. Try again shortly.",
    { retryAfter: "1" },
  );
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

/**
 * The problem as an answer. Shape A: status, error, code. Shape B: success,
 * error {code, message}; input is the shape of problems with the operation's input.
 */
export function refuse(
  { code, message, status: own, retryAfter, allow }: Problem,
  input: "A" | "B" = "A",
): Answer {
  const [usual, shape] = PROBLEMS[code];
  const status = own ?? usual;
  const isB = shape === "input" && input === "B";
  const body = isB
    ? { success: false, error: { code, message } }
    : { status, error: message, code };
  return {
    status,
    body: JSON.stringify(body),
    headers: { "Retry-After": retryAfter, Allow: allow },
  };
}
