/** Helpers that several tests use; not part of any bundle. */

import { readFileSync } from "node:fs";

import type { Config } from "./config.ts";
import { Engine } from "./engine.ts";
import type { Fetch } from "./origin.ts";
import { type RawRequest, Worker } from "./worker.ts";

/** A well-formed key, the example in origin/ledger/secret.go. */
export const KEY = "ask_000000000000000000000000000000002CGNRW";

export function compileModule(): WebAssembly.Module {
  const file = process.env.ADDRSPEC_MODULE;
  if (file === undefined) throw new Error("run the tests with: node test/run.mjs MODULE");
  return new WebAssembly.Module(readFileSync(file));
}

export const engine = new Engine(compileModule());

export const config: Config = {
  origin: "http://origin.test",
  secret: "s",
  timeoutMS: 1000,
  flags: 0,
  pages: "public",
};

/** Returns a worker whose origin answers with reply, and records what it sends and logs. */
export function newWorker(
  reply: (request: Request) => Response | Promise<Response>,
  settings: Partial<Config> & { engine?: Engine } = {},
) {
  const sent: Request[] = [];
  const logged: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init);
    sent.push(request.clone());
    return await reply(request);
  };
  const { engine: ownEngine = engine, ...changed } = settings;
  const worker = new Worker({
    engine: ownEngine,
    config: { ...config, ...changed },
    fetch,
    log: (message) => logged.push(message),
  });
  return { worker, sent, logged };
}

/** Returns a request with a key; by default a GET. */
export function get(
  target: string,
  more: Partial<Omit<RawRequest, "headers">> & { headers?: Record<string, string> } = {},
): RawRequest {
  const headers = new Headers({ "X-API-Key": KEY, ...more.headers });
  return {
    method: "GET",
    target,
    body: null,
    signal: new AbortController().signal,
    proto: "https",
    ...more,
    headers,
  };
}

/** Returns a request for POST /v1/emails. */
export function postBatch(body: string, headers: Record<string, string> = {}): RawRequest {
  return get("/v1/emails", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: new Response(body).body,
  });
}

/** Returns the origin's 200 to an admission. */
export function admitted(mx: unknown[]): Response {
  return new Response(JSON.stringify({ mx, partial: mx.includes(null) }), {
    headers: {
      "Content-Type": "application/json",
      "X-Usage-Current": "1",
      "X-Usage-Limit": "1000",
    },
  });
}
