/**
 * Runs the worker on AWS Lambda with Node.js, behind a function URL or an HTTP API of API
 * Gateway: events and responses of payload format 2.0.
 */

import { readFileSync } from "node:fs";
import { Engine } from "../src/engine.ts";
import type { RawRequest } from "../src/origin.ts";
import type { Worker } from "../src/worker.ts";
import { Isolate } from "./isolate.ts";

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

/** How long a response waits for an update of the lists that its request began. */
const UPDATE_MS = 1000;

const wasm = new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url)));
const isolate = new Isolate(new Engine(wasm));

export async function handler(event: HTTPEvent) {
  const request = rawRequest(event);
  let update: Promise<unknown> | undefined;
  const context = {
    waitUntil: (promise: Promise<unknown>) => {
      update = promise;
    },
  };
  const use = (worker: Worker) => worker.respond(request);
  const response = await isolate.serve(request, process.env, context, use);
  const cookies = response.headers.getSetCookie();
  response.headers.delete("Set-Cookie");
  const result = {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    cookies,
    body: Buffer.from(await response.arrayBuffer()).toString("base64"),
    isBase64Encoded: true,
  };
  // Lambda stops the process between requests, and with it the update.
  const late = () => new Promise((done) => setTimeout(done, UPDATE_MS).unref());
  if (update !== undefined) await Promise.race([update, late()]);
  return result;
}

function rawRequest(event: HTTPEvent): RawRequest {
  const { rawPath, rawQueryString, requestContext } = event;
  const headers = new Headers(event.headers);
  if (event.cookies?.length) headers.set("Cookie", event.cookies.join("; "));
  const encoding = event.isBase64Encoded ? "base64" : "utf8";
  // A function URL passes the path as it was sent, an HTTP API percent-decodes it once.
  const path = requestContext.domainName.includes(".lambda-url.")
    ? rawPath
    : encodeURI(rawPath.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
  return {
    method: requestContext.http.method,
    target: rawQueryString === "" ? path : `${path}?${rawQueryString}`,
    headers,
    body: event.body ? new Blob([Buffer.from(event.body, encoding)]).stream() : null,
    // Lambda does not say that the client has disconnected; only the time limit ends a request.
    signal: new AbortController().signal,
    proto: "https",
  };
}
