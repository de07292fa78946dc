/** Makes problems, the contract's error responses; problems.ts has the table of codes. */

import { PROBLEMS } from "./problems.ts";
import type { WorkerResponse } from "./response.ts";

export type Code = keyof typeof PROBLEMS;

export interface Problem {
  readonly code: Code;
  readonly message: string;
  /** Replaces the status of the code. */
  readonly status?: number;
  readonly retryAfter?: string;
  readonly allow?: string;
  /** Why an address is not valid, as JSON, for a client that asked for details. */
  readonly refusal?: string | undefined;
}

export function problem(
  code: Code,
  message: string,
  more: Omit<Problem, "code" | "message"> = {},
): Problem {
  return { code, message, ...more };
}

/** Returns the 503 for an origin that did not send a response of the contract. */
export function unavailable(): Problem {
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
 * Returns the problem as a response. Shape A has status, error and code; shape B
 * has success and error {code, message}. inputShape is the shape of problems with
 * the operation's input.
 */
export function problemResponse(
  { code, message, status: ownStatus, retryAfter, allow, refusal }: Problem,
  inputShape: "A" | "B" = "A",
): WorkerResponse {
  const [defaultStatus, shape] = PROBLEMS[code];
  const status = ownStatus ?? defaultStatus;
  const isB = shape === "input" && inputShape === "B";
  const body = JSON.stringify(
    isB ? { success: false, error: { code, message } } : { status, error: message, code },
  );
  return {
    status,
    body: refusal ? `${body.slice(0, -1)},"details":{"refusal":${refusal}}}` : body,
    headers: { "Retry-After": retryAfter, Allow: allow },
  };
}
