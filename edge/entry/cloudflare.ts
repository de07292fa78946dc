/**
 * Runs the worker on Cloudflare Workers and workerd, where settings are bindings
 * and the module is part of the upload.
 *
 * When a request has a response, or its client has disconnected, the platform ends
 * what it began and has not passed to waitUntil, such as a fetch of the origin. So the
 * worker gets no signal: one for each request would take a fifth of its processor time.
 */

import type { Environment } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import wasm from "./addrspec.wasm";
import { type Context, Isolate } from "./isolate.ts";

const isolate = new Isolate(new Engine(wasm));

export default {
  fetch: (request: Request, env: Environment, context: Context) =>
    isolate.fetch(request, env, context, null),

  /**
   * Updates the lists of the isolate that a cron trigger reaches. Rejects if that
   * fails, so that the platform lists the failure among the trigger's events.
   */
  async scheduled(_: unknown, env: Environment): Promise<void> {
    const failure = await isolate.workerFor(env).lists?.update();
    if (failure !== undefined) throw new Error(failure);
  },
};
