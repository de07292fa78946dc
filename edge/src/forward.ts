/** Requests that go to the origin as they came: pages, and what the worker does not answer itself. */

import type { Answer } from "./answer.ts";
import { gather } from "./body.ts";
import { isJSON } from "./media-type.ts";
import type { Fetch } from "./origin.ts";
import { LIMITS } from "./pass-through.ts";

/**
 * The headers of one hop (RFC 9110 section 7.6.1), and those that the worker
 * sets itself. fetch sets Accept-Encoding and decodes what it gets.
 */
const OWN_HEADERS = [
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "proxy-connection",
  "proxy-authorization",
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "x-edge-secret",
  "x-request-id",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
];

/** Above any answer to a batch: 64 results, however long the addresses in a body of 1 MiB. */
const MAX_ANSWER = 32 << 20;

/** The statuses of an operation's answer; any other is not for the caller. */
const STATUSES = new Set([200, 400, 401, 402, 409, 413, 415, 422, 429, 500, 503]);

/** The headers of an operation's answer that the caller gets, beside those of every answer. */
const PASSED_HEADERS = ["Retry-After", "Idempotency-Replayed", ...LIMITS];

const OWN_ANSWER_HEADERS = [
  "connection",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "proxy-authenticate",
];

export interface Forwarded {
  readonly method: string;
  /** Path and query for the origin. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  readonly id: string;
  /** How the caller addressed the worker: "https", "edge.example.org". */
  readonly proto: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
}

/** Whether fetch sends the target as it is: its URL parser may rewrite paths and queries. */
export function isKept(origin: string, target: string): boolean {
  const url = origin + target;
  return !target.includes("#") && URL.canParse(url) && new URL(url).href === url;
}

/** Sends the request on; a redirect is left to the caller. */
export function forward(
  origin: string,
  fetch: Fetch,
  { method, target, headers, body, id, proto }: Forwarded,
  signal: AbortSignal,
): Promise<Response> {
  const sent = without(headers, OWN_HEADERS);
  sent.set("X-Request-Id", id);
  sent.set("X-Forwarded-Proto", proto);
  sent.set("X-Forwarded-Host", headers.get("Host") ?? "");
  // Node's fetch requires duplex with a streamed body.
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers: sent,
    body,
    redirect: "manual",
    signal,
    duplex: "half",
  };
  return fetch(origin + target, init);
}

/** The origin's page for the caller, streamed. */
export function passOn(response: Response): Response {
  const headers = without(response.headers, OWN_ANSWER_HEADERS);
  if (headers.has("Content-Encoding")) {
    // fetch has decoded the body already.
    headers.delete("Content-Encoding");
    headers.delete("Content-Length");
  }
  return new Response(response.body, { status: response.status, headers });
}

/**
 * The origin's answer to an operation, read whole, so that half of one is never
 * sent; undefined if it is not one.
 */
export async function takeAnswer(response: Response): Promise<Answer | undefined> {
  const body = await gather(response.body, MAX_ANSWER);
  const { status, headers } = response;
  if (!body || !STATUSES.has(status) || !isJSON(headers.get("Content-Type")) || !isWhole(body))
    return undefined;
  const passed = PASSED_HEADERS.map((name) => [name, headers.get(name) ?? undefined] as const);
  return { status, body, headers: Object.fromEntries(passed) };
}

function isWhole(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(body));
    return true;
  } catch {
    return false;
  }
}

function without(headers: Headers, names: readonly string[]): Headers {
  const kept = new Headers(headers);
  for (const name of names) kept.delete(name);
  return kept;
}
