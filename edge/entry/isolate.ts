/**
 * Serves requests on platforms that start isolates as they need them and say nothing
 * at the start. So a wrong setting is found by a request, and so is a due update of the lists.
 */

import { type Environment, readConfig } from "../src/config.ts";
import type { Engine } from "../src/engine.ts";
import { problemResponse, unavailable } from "../src/problem.ts";
import { requestID, respond } from "../src/response.ts";
import { Worker } from "../src/worker.ts";

/** What the platform passes with a request. */
export interface Invocation {
  readonly env: Environment;
  readonly method: string;
  readonly headers: Headers;
  /** Keeps the isolate running until the promise is settled. */
  waitUntil(promise: Promise<unknown>): void;
}

export class Isolate {
  readonly #engine: Engine;
  /** The worker of the last request; an isolate's settings do not change. */
  #cached: { readonly env: Environment; readonly worker: Worker } | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns the worker; throws an error that names a wrong setting. */
  workerFor(env: Environment): Worker {
    if (this.#cached?.env !== env) {
      this.#cached = { env, worker: new Worker({ engine: this.#engine, config: readConfig(env) }) };
    }
    return this.#cached.worker;
  }

  /** Responds with the worker; never rejects. */
  async serve(
    { env, method, headers, waitUntil }: Invocation,
    use: (worker: Worker) => Promise<Response>,
  ): Promise<Response> {
    try {
      const worker = this.workerFor(env);
      // No timer runs between requests, so each one looks at the clock.
      worker.lists?.poll(waitUntil);
      return await use(worker);
    } catch (error) {
      console.error(`settings: ${error instanceof Error ? error.message : "wrong"}`);
      return respond(
        problemResponse(unavailable()),
        requestID(headers.get("X-Request-Id")),
        method,
      );
    }
  }
}
