/**
 * The edge worker. It serves the operations of /v1 as the origin does: it runs
 * the module itself, and the origin checks the key and the rate, looks up MX
 * records and charges. It first decides what to do with a request, as a value
 * (route.ts, plan.ts), and then does it. What differs between platforms is in
 * entry/. Each request makes one round trip to the origin at most, or two if the worker has
 * to learn that the origin must get the requests with the key whole.
 */

import { Body, type Fetch, type Log, nameOf, withTimeout } from "./body.ts";
import type { Config } from "./config.ts";
import type { Check, Engine } from "./engine.ts";
import { Updater } from "./feed.ts";
import { readKey } from "./key.ts";
import { type IdentifiedRequest, Origin, type RawRequest } from "./origin.ts";
import { type Plan, parseBatch, planBatch, planProblem, planSingle } from "./plan.ts";
import { SENTENCES } from "./problems.ts";
import {
  problemResponse,
  requestID,
  respond,
  UNAVAILABLE,
  type WorkerResponse,
} from "./response.ts";
import {
  malformed,
  notFound,
  parameters,
  percentDecode,
  type Route,
  routeOf,
  singleTarget,
  targetOf,
} from "./route.ts";

/** The dependencies of the worker; tests replace the platform's fetch and console. */
export interface Dependencies {
  readonly engine: Engine;
  readonly config: Config;
  readonly fetch?: Fetch;
  readonly log?: Log;
}

/** The longest batch that the worker parses, far above 64 usual addresses. */
const MAX_BATCH = 64 << 10;
/** The origin refuses longer bodies (1 MiB), so it gets one byte more at most. */
const MAX_FORWARDED = (1 << 20) + 1;
/** Likewise of calls of hooks and messages of assistants (256 KiB). */
const MAX_FORWARDED_START = (256 << 10) + 1;
const READ_TIMEOUT_MS = 15_000;

export class Worker {
  /** Updates the lists; undefined if no feed is set. Each platform's entry calls it. */
  readonly lists: Updater | undefined;
  readonly #engine: Engine;
  readonly #check: Check;
  readonly #config: Config;
  readonly #log: Log;
  readonly #origin: Origin;

  constructor({
    engine,
    config,
    fetch: send = (url, init) => fetch(url, init),
    log = (message) => console.error(message),
  }: Dependencies) {
    this.lists = config.lists && new Updater({ engine, fetch: send, log, ...config.lists });
    this.#engine = engine;
    this.#check = (email, flags = 0) => engine.check(email, config.flags | flags);
    this.#config = config;
    this.#log = log;
    this.#origin = new Origin(config, send, log);
  }

  /** Responds to a platform's Request; never rejects. */
  fetch(request: Request, signal: AbortSignal | null): Promise<Response> {
    const { method, url, headers } = request;
    // A GET has none; each getter is a call into the platform.
    const body = method === "GET" ? null : request.body;
    const proto = url.slice(0, url.indexOf(":"));
    return this.respond({ method, target: targetOf(url), headers, body, signal, proto });
  }

  async respond(raw: RawRequest): Promise<Response> {
    const id = requestID(raw.headers.get("X-Request-Id"));
    try {
      const response = await this.#route({ ...raw, id });
      return response instanceof Response ? response : respond(response, id, raw.method);
    } catch (error) {
      this.#logDefect(error);
      const defect = problemResponse({ code: "INTERNAL_ERROR", message: SENTENCES.defect });
      return respond(defect, id, raw.method);
    }
  }

  async #route(request: IdentifiedRequest): Promise<WorkerResponse | Response> {
    const bad = malformed(request.target, request.headers);
    if (bad !== undefined) return problemResponse(bad);
    const route = routeOf(request.method, request.target, this.#config.pages);
    if ("status" in route) return route;
    if (route.to === "versions")
      return { status: 200, body: JSON.stringify(this.#engine.versions()) };
    if (route.to === "page") return this.#page(request, route);
    if (route.to === "hook") return this.#forward(request, route);
    const key = readKey(request.headers);
    if (typeof key !== "string") return problemResponse(key);
    if (route.to === "single") return this.#single(request, key, route);
    if (route.to === "batch") return this.#batch(request, key);
    return this.#forward(request, route);
  }

  async #single(
    request: IdentifiedRequest,
    key: string,
    { to, suffix, query }: Route,
  ): Promise<WorkerResponse> {
    const email = percentDecode(suffix.slice(1));
    const isWhole = parameters(query, "policy").length > 0 || this.#origin.forwards(key);
    if (email === undefined || !isWhole) {
      const plan =
        this.#plan(() => planSingle(this.#check, email, query))
        ?? planProblem({ code: "INTERNAL_ERROR", message: SENTENCES.checksFailed });
      const response = await this.#execute(plan, key, request);
      if (response !== undefined) return response;
      if (email === undefined) return plan.finish([]); // the origin's HTTP server would refuse it
    }
    const target = singleTarget(email, query);
    return this.#origin.forward({ ...request, method: "GET", target, body: null }, to);
  }

  async #batch(request: IdentifiedRequest, key: string): Promise<WorkerResponse> {
    const arrival = Date.now();
    const body = new Body(request.body);
    const start = await readStart(body, request.signal, MAX_BATCH);
    if (start === undefined) return truncated(body, "B");
    const isParsed = body.ended && !this.#origin.forwards(key);
    const given = isParsed ? parseBatch(request.headers, start) : undefined;
    const plan = given && this.#plan(() => planBatch(this.#check, given, arrival));
    const planned = plan && (await this.#execute(plan, key, request));
    if (planned !== undefined) return planned;
    const whole = body.whole(start, MAX_FORWARDED);
    const target = "/v1/emails";
    const response = await this.#origin.forward({ ...request, target, body: whole }, "batch");
    // The origin may respond, to a wrong key for instance, before it has read all of the
    // body. Then it does not matter that the rest cannot be read.
    if (body.broken && response.status === 503) return truncated(body, "B");
    body.cancel();
    return response;
  }

  /**
   * Forwards what the origin decides: usage, messages of assistants, and calls of sign-up hooks,
   * whose secrets, policies and records it has. A decision here would need the same round trip.
   * Of a body that is too long it forwards the start.
   */
  async #forward(request: IdentifiedRequest, { to, target }: Route): Promise<WorkerResponse> {
    if (request.method !== "POST")
      return this.#origin.forward({ ...request, method: "GET", target, body: null }, to);
    const body = new Body(request.body);
    const start = await readStart(body, request.signal, MAX_FORWARDED_START);
    if (start === undefined) return truncated(body, "A");
    const sent = start.subarray(0, MAX_FORWARDED_START);
    const response = await this.#origin.forward({ ...request, target, body: sent }, to);
    body.cancel();
    return response;
  }

  async #page(request: IdentifiedRequest, { target }: Route): Promise<Response | WorkerResponse> {
    if (!this.#origin.keeps(target)) return notFound();
    const body = request.method === "POST" ? request.body : null;
    const page = await this.#origin.page({ ...request, target, body });
    return page ?? problemResponse(UNAVAILABLE);
  }

  /** Returns undefined if the module fails, which is a defect, and logged. */
  #plan(make: () => Plan): Plan | undefined {
    try {
      return make();
    } catch (error) {
      this.#logDefect(error);
      return undefined;
    }
  }

  /** Executes a plan; returns undefined if the origin must get the request whole. */
  async #execute(
    plan: Plan,
    key: string,
    request: IdentifiedRequest,
  ): Promise<WorkerResponse | undefined> {
    const admission = await this.#origin.admit(plan, key, request);
    if (admission === "forward") return undefined;
    if ("problem" in admission) return admission.problem;
    const response = plan.finish(admission.lookups);
    return { ...response, headers: { ...response.headers, ...admission.headers } };
  }

  #logDefect(error: unknown): void {
    this.#log(`defect: ${nameOf(error)}`);
  }
}

/** Reads the start of a body; returns undefined if the client aborts it or is too slow. */
async function readStart(body: Body, signal: AbortSignal | null, limit: number) {
  try {
    return await withTimeout(READ_TIMEOUT_MS, signal, () => body.readStart(limit));
  } catch {
    return undefined;
  }
}

/** Returns the response to an incomplete request (RFC 9112 section 8). The origin is not asked. */
function truncated(body: Body, shape: "A" | "B"): WorkerResponse {
  body.cancel();
  const message = SENTENCES.brokeOff(String(body.size));
  return problemResponse({ code: "INVALID_REQUEST", message }, shape);
}
