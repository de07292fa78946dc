/** The entry for Cloudflare Workers and workerd: settings are bindings, the module is part of the upload. */

import { respond } from "../src/answer.ts";
import { type Environment, readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { refuse, unreached } from "../src/problem.ts";
import { requestID } from "../src/request-id.ts";
import { Worker } from "../src/worker.ts";
import wasm from "./addrspec.wasm";

const engine = new Engine(wasm);
const log = (message: string) => console.error(message);

/** Bindings stay the same while an isolate lives. */
let known: { readonly env: Environment; readonly worker: Worker } | undefined;

function workerFor(env: Environment): Worker {
  if (known?.env !== env) {
    known = {
      env,
      worker: new Worker({
        engine,
        config: readConfig(env),
        fetch: (url, init) => fetch(url, init),
        log,
      }),
    };
  }
  return known.worker;
}

export default {
  async fetch(request: Request, env: Environment): Promise<Response> {
    try {
      return await workerFor(env).fetch(request);
    } catch (failure) {
      // Bindings are first seen here; a wrong one keeps the worker from its work.
      log(`settings: ${failure instanceof Error ? failure.message : "wrong"}`);
      return respond(
        refuse(unreached()),
        requestID(request.headers.get("X-Request-Id")),
        request.method,
      );
    }
  },
};
