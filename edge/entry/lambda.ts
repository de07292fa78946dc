/**
 * Runs the worker on AWS Lambda with Node.js, behind a function URL or an HTTP API of API
 * Gateway: events and responses of payload format 2.0.
 */

import { readFileSync } from "node:fs";
import { Engine } from "../src/engine.ts";
import type { RawRequest } from "../src/worker.ts";
import { Isolate } from "./isolate.ts";

/** The part of an event that is used. */
interface HTTPEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  /** Fields of one name are joined by commas, except cookies. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  readonly requestContext: {
    readonly domainName: string;
    readonly http: { readonly method: string };
  };
}

interface HTTPResult {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly cookies: string[];
  readonly body: string;
  readonly isBase64Encoded: true;
}

/** How long a response waits for an update of the lists that its request began. */
const UPDATE_MS = 1000;

const wasm = new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url)));
const isolate = new Isolate(new Engine(wasm));
const { env } = process;

export async function handler(event: HTTPEvent): Promise<HTTPResult> {
  const request = rawRequest(event);
  let update: Promise<unknown> | undefined;
  const waitUntil = (promise: Promise<unknown>) => {
    update = promise;
  };
  const result = await resultOf(
    await isolate.serve({ ...request, env, waitUntil }, (worker) => worker.respond(request)),
  );
  // Lambda stops the process between requests, and with it the update.
  await Promise.race([
    update,
    update && new Promise((done) => setTimeout(done, UPDATE_MS).unref()),
  ]);
  return result;
}

function rawRequest(event: HTTPEvent): RawRequest {
  const { method } = event.requestContext.http;
  const headers = new Headers(event.headers);
  if (event.cookies?.length) headers.set("Cookie", event.cookies.join("; "));
  const body = event.body
    ? Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8")
    : null;
  return {
    method,
    target: targetOf(event),
    headers,
    body: body && new Blob([body]).stream(),
    // Lambda does not say that the client has disconnected; only the time limit ends a request.
    signal: new AbortController().signal,
    proto: "https",
  };
}

/**
 * Returns the target. A function URL passes the path as it was sent, an HTTP API
 * percent-decodes it once.
 */
function targetOf({ rawPath, rawQueryString, requestContext }: HTTPEvent): string {
  const path = requestContext.domainName.includes(".lambda-url.")
    ? rawPath
    : encodeURI(rawPath.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
  return rawQueryString === "" ? path : `${path}?${rawQueryString}`;
}

async function resultOf(response: Response): Promise<HTTPResult> {
  const cookies = response.headers.getSetCookie();
  response.headers.delete("Set-Cookie");
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    cookies,
    body: Buffer.from(await response.arrayBuffer()).toString("base64"),
    isBase64Encoded: true,
  };
}
