/** What several tests need; part of nothing that ships. */

import { readFileSync } from "node:fs";

import type { Config } from "./config.ts";
import { Engine } from "./engine.ts";
import type { Fetch } from "./origin.ts";
import { type Asked, Worker } from "./worker.ts";

/** A key of the right form (origin/ledger/secret.go gives it as its example). */
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

/** A worker before an origin with this answer, and what it asked and logged. */
export function workerBefore(
  answer: (request: Request) => Response | Promise<Response>,
  settings: Partial<Config> = {},
  checks = engine,
) {
  const asked: Request[] = [];
  const logged: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init);
    asked.push(request.clone());
    return answer(request);
  };
  const worker = new Worker({
    engine: checks,
    config: { ...config, ...settings },
    fetch,
    log: (message) => logged.push(message),
  });
  return { worker, asked, logged };
}

export function ask(
  target: string,
  more: Partial<Omit<Asked, "headers">> & { headers?: Record<string, string> } = {},
): Asked {
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

export function batch(body: string, headers: Record<string, string> = {}): Asked {
  return ask("/v1/emails", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: new Response(body).body,
  });
}

/** The origin's 200. */
export function admitted(mx: unknown[]): Response {
  return new Response(JSON.stringify({ mx, partial: mx.includes(null) }), {
    headers: {
      "Content-Type": "application/json",
      "X-Usage-Current": "1",
      "X-Usage-Limit": "1000",
    },
  });
}
