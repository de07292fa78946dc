/** Responses: the contract's problems, and the headers that every response has. */

import { PROBLEMS, SENTENCES } from "./problems.ts";

/** An HTTP response, decided but not yet sent. */
export interface WorkerResponse {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Headers beside those that every response has; an undefined one is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** An error response of the contract. */
export interface Problem {
  readonly code: keyof typeof PROBLEMS;
  readonly message: string;
  /** Replaces the status of the code. */
  readonly status?: number;
  readonly retryAfter?: string;
  readonly allow?: string;
  /** Why an address is not valid, as JSON, for a client that asked for details. */
  readonly refusal?: string | undefined;
}

/** The 503 for an origin that did not send a response of the contract. */
export const UNAVAILABLE: Problem = {
  code: "REQUEST_CANCELLED",
  message: "The service cannot be reached at the moment. Try again shortly.",
  retryAfter: "1",
};

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

/**
 * Returns the headers and the body to send. Every response is JSON and names its
 * request. None may be cached, because it may contain an address.
 *
 * The headers are a plain object, so that the Response takes all of them in one call:
 * 10 µs in workerd, in place of 13 with each header set by itself.
 */
export function render({ status, body, headers = {} }: WorkerResponse, id: string) {
  const all: Record<string, string> = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": id,
  };
  if (status === 401) all["WWW-Authenticate"] = SENTENCES.challenge; // RFC 9110 section 11.6.1
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all[name] = value;
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (bytes !== null) all["Content-Length"] = String(bytes.length);
  return { headers: all, body: bytes };
}

/** Returns the response as a Response; for HEAD, without the body (RFC 9110 section 9.3.2). */
export function respond(response: WorkerResponse, id: string, method = "GET"): Response {
  const { headers, body } = render(response, id);
  return new Response(method === "HEAD" ? null : body, { status: response.status, headers });
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns the client's request id if it is safe in a header and in a log line, else a new one. */
export function requestID(given: string | null): string {
  if (given !== null && /^[0-9A-Za-z._:-]{1,128}$/.test(given)) return given;
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(26))) id += BASE32.charAt(byte & 31);
  return id;
}
