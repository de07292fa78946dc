/**
 * The contract's problems: each code's status and shape, declared once. Those
 * that refuse the body of a batch have shape B. Shape C is only for 429, which
 * the origin writes.
 */

import type { Answer } from "./answer.ts";

/** A: status, error, code. B: success, error {code, message, more}. */
type Shape = "A" | "B";

const PROBLEMS = {
  NOT_FOUND: [404, "A"],
  METHOD_NOT_ALLOWED: [405, "A"],
  BAD_REQUEST: [400, "A"],
  INVALID_API_KEY: [401, "A"],
  UNSUPPORTED_MEDIA_TYPE: [415, "B"],
  BODY_TOO_LARGE: [413, "B"],
  MISSING_EMAIL: [400, "A"],
  INVALID_EMAIL_FORMAT: [400, "A"],
  INVALID_REQUEST: [400, "B"],
  EMPTY_BATCH: [400, "B"],
  BATCH_SIZE_EXCEEDED: [400, "B"],
  INTERNAL_ERROR: [500, "A"],
  REQUEST_CANCELLED: [503, "A"],
} as const satisfies Record<string, readonly [number, Shape]>;

export type Code = keyof typeof PROBLEMS;

/** A problem that occurred. */
export interface Fault {
  readonly code: Code;
  readonly message: string;
  /** Further fields of some codes of shape B. */
  readonly detail?: Readonly<Record<string, number>>;
  readonly retryAfter?: string;
  readonly allow?: string;
}

export function fault(code: Code, message: string, more: Omit<Fault, "code" | "message"> = {}): Fault {
  return { code, message, ...more };
}

/** The 503 for a failure that is expected to pass. */
function unavailable(message: string): Fault {
  return fault("REQUEST_CANCELLED", message, { retryAfter: "1" });
}

/** The 503 for an origin that gave no answer of the contract. */
export function unreached(): Fault {
  return unavailable("The service cannot be reached at the moment. Try again shortly.");
}

export function isFault(value: unknown): value is Fault {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

/** The problem as an answer. */
export function refuse({ code, message, detail, retryAfter, allow }: Fault): Answer {
  const [status, shape] = PROBLEMS[code];
  const body = shape === "B"
    ? { success: false, error: { code, message, ...detail } }
    : { status, error: message, code };
  return { status, body: JSON.stringify(body), headers: { "Retry-After": retryAfter, Allow: allow } };
}
