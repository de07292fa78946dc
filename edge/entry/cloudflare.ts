/**
 * Runs the worker on Cloudflare Workers and workerd, where settings are bindings
 * and the module is part of the upload.
 *
 * When a request has a response, or its client has disconnected, the platform ends
 * what it began and has not passed to waitUntil, such as a fetch of the origin. So the
 * worker gets no signal: one for each request would take a fifth of its processor time.
 */

import { type Environment, readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { problemResponse, unavailable } from "../src/problem.ts";
import { requestID } from "../src/request-id.ts";
import { respond } from "../src/response.ts";
import { Worker } from "../src/worker.ts";
import wasm from "./addrspec.wasm";

const engine = new Engine(wasm);

/** The worker of the last request; an isolate's bindings do not change. */
let cached: { readonly env: Environment; readonly worker: Worker } | undefined;

function workerFor(env: Environment): Worker {
  if (cached?.env !== env) {
    cached = { env, worker: new Worker({ engine, config: readConfig(env) }) };
  }
  return cached.worker;
}

/** The part of ExecutionContext that is used. */
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

export default {
  async fetch(request: Request, env: Environment, context: Context): Promise<Response> {
    try {
      const worker = workerFor(env);
      // No cron trigger reaches every isolate, so each one looks at the clock itself.
      worker.lists?.poll((update) => context.waitUntil(update));
      return await worker.fetch(request, null);
    } catch (error) {
      // A platform passes bindings with each request, so a wrong setting is found here.
      console.error(`settings: ${error instanceof Error ? error.message : "wrong"}`);
      const id = requestID(request.headers.get("X-Request-Id"));
      return respond(problemResponse(unavailable()), id, request.method);
    }
  },

  /**
   * Updates the lists of the isolate that a cron trigger reaches. Rejects if that
   * fails, so that the platform lists the failure among the trigger's events.
   */
  async scheduled(_: unknown, env: Environment): Promise<void> {
    const failure = await workerFor(env).lists?.update();
    if (failure !== undefined) throw new Error(failure);
  },
};
