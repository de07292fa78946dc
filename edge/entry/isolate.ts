/**
 * Serves requests on platforms that start isolates as they need them and say nothing
 * at the start. So a wrong setting is found by a request, and so is a due update of the lists.
 */

import { type Environment, readConfig } from "../src/config.ts";
import type { Engine } from "../src/engine.ts";
import { problemResponse, requestID, respond, UNAVAILABLE } from "../src/response.ts";
import { Worker } from "../src/worker.ts";

/** The part of a platform's context that is used. */
export interface Context {
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

  /** Responds to a platform's Request; never rejects. */
  fetch(
    request: Request,
    env: Environment,
    context: Context,
    signal: AbortSignal | null = request.signal,
  ): Promise<Response> {
    return this.serve(request, env, context, (worker) => worker.fetch(request, signal));
  }

  async serve(
    { method, headers }: { readonly method: string; readonly headers: Headers },
    env: Environment,
    context: Context,
    use: (worker: Worker) => Promise<Response>,
  ): Promise<Response> {
    try {
      const worker = this.workerFor(env);
      // No timer runs between requests, so each one looks at the clock.
      worker.lists?.poll((update) => context.waitUntil(update));
      return await use(worker);
    } catch (error) {
      console.error(`settings: ${error instanceof Error ? error.message : "wrong"}`);
      const id = requestID(headers.get("X-Request-Id"));
      return respond(problemResponse(UNAVAILABLE), id, method);
    }
  }
}
