/**
 * Forwards requests to the origin: those for its pages, and the operations that
 * the worker does not handle by itself.
 */

import { isJSON, readAll } from "./body.ts";
import { PASSED_KEY_HEADERS } from "./origin.ts";
import type { Fetch, WorkerResponse } from "./response.ts";

/**
 * Request headers that are not forwarded: those of one hop (RFC 9110 section
 * 7.6.1), and those that the worker or fetch sets. fetch sets Accept-Encoding
 * and decodes the response.
 */
const UNFORWARDED_HEADERS = [
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

/** More than any response to a batch: 64 results, with the addresses of a body of 1 MiB. */
const MAX_ANSWER = 32 << 20;

/** The statuses of an operation's responses; no other is passed to the client. */
const STATUSES = new Set([200, 400, 401, 402, 409, 413, 415, 422, 429, 500, 503]);

/** Those where the origin knows which hooks, or which methods of an assistant, exist. */
const ORIGIN_STATUSES = new Set([...STATUSES, 404, 405]);

/** The status of the response to a message that gets none; it has no body. */
const ACCEPTED = 202;

/** The headers of an operation's response that are passed to the client. */
const PASSED_HEADERS = [
  "Retry-After",
  "Allow",
  "Idempotency-Replayed",
  "WWW-Authenticate",
  ...PASSED_KEY_HEADERS,
];

/** Response headers of one hop, which are not passed to the client. */
const HOP_HEADERS = [
  "connection",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "proxy-authenticate",
];

/** A request for the origin. */
export interface ForwardedRequest {
  readonly method: string;
  /** The path and the query for the origin. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  readonly id: string;
  /** The scheme of the client's request: http or https. */
  readonly proto: string;
  /** Aborted when the client has disconnected; null if the platform then ends the request itself. */
  readonly signal: AbortSignal | null;
}

/** Reports whether fetch sends the target unchanged; its URL parser may rewrite it. */
export function isUnchanged(origin: string, target: string): boolean {
  const url = origin + target;
  return !target.includes("#") && URL.canParse(url) && new URL(url).href === url;
}

/** Sends the request to the origin; a redirect is left to the client. */
export function forward(
  origin: string,
  fetch: Fetch,
  { method, target, headers, body, id, proto, signal }: ForwardedRequest,
): Promise<Response> {
  const sent = without(headers, UNFORWARDED_HEADERS);
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

/** Returns the origin's page for the client, streamed. */
export function pageResponse(response: Response): Response {
  const headers = without(response.headers, HOP_HEADERS);
  if (headers.has("Content-Encoding")) {
    // fetch has already decoded the body.
    headers.delete("Content-Encoding");
    headers.delete("Content-Length");
  }
  return new Response(response.body, { status: response.status, headers });
}

/**
 * Reads the origin's response to an operation. It reads all of it, so that no
 * truncated response is sent. Returns undefined if the response is not one.
 */
export function readResponse(response: Response): Promise<WorkerResponse | undefined> {
  return readJSON(response, STATUSES);
}

/** Reads the origin's response to a call of a hook, likewise. */
export function readHookResponse(response: Response): Promise<WorkerResponse | undefined> {
  return readJSON(response, ORIGIN_STATUSES);
}

/** Reads the origin's response to a message of an assistant, likewise. */
export async function readMCPResponse(response: Response): Promise<WorkerResponse | undefined> {
  if (response.status !== ACCEPTED) return readJSON(response, ORIGIN_STATUSES);
  return (await readAll(response, 0))?.length === 0 ? { status: ACCEPTED, body: "" } : undefined;
}

async function readJSON(
  response: Response,
  statuses: ReadonlySet<number>,
): Promise<WorkerResponse | undefined> {
  const body = await readAll(response, MAX_ANSWER);
  const { status, headers } = response;
  if (!statuses.has(status) || !isJSON(headers.get("Content-Type"))) return undefined;
  if (body === undefined || !isWholeJSON(body)) return undefined;
  const passed = PASSED_HEADERS.map((name) => [name, headers.get(name) ?? undefined] as const);
  return { status, body, headers: Object.fromEntries(passed) };
}

function isWholeJSON(body: Uint8Array): boolean {
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
