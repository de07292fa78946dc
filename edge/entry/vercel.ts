/** What Vercel's two runtimes have in common. */

import type { Engine } from "../src/engine.ts";
import { Isolate } from "./isolate.ts";

/** The part of RequestContext that is used. */
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Returns a middleware that responds to each request itself. It is one, and not a function
 * behind a rewrite, because it gets the URL of the client.
 */
export function middleware(engine: Engine) {
  const isolate = new Isolate(engine);
  const { env } = process;
  return (request: Request, context: Context): Promise<Response> => {
    const { method, headers } = request;
    const waitUntil = (promise: Promise<unknown>) => context.waitUntil(promise);
    return isolate.serve({ env, method, headers, waitUntil }, (worker) =>
      worker.fetch(request, request.signal),
    );
  };
}
