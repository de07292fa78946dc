/**
 * The edge worker. It serves the operations of /v1 as the origin does: it runs
 * the module itself, and the origin checks the key and the rate, looks up MX
 * records and charges. It first decides what to do with a request, as a value
 * (route.ts, plan.ts), and then does it. What differs between platforms is in
 * entry/. Each request makes one round trip to the origin at most, or two if the worker has
 * to learn that the origin must get the requests with the key whole.
 */

import { parseBatch, planBatch } from "./batch.ts";
import { Body } from "./body.ts";
import type { Config } from "./config.ts";
import type { Check, Engine } from "./engine.ts";
import {
  type ForwardedRequest,
  forward,
  isUnchanged,
  pageResponse,
  readHookResponse,
  readMCPResponse,
  readResponse,
} from "./forward.ts";
import { readKey } from "./key.ts";
import { type Log, Origin } from "./origin.ts";
import { type Plan, planProblem } from "./plan.ts";
import { isProblem, problem, problemResponse, unavailable } from "./problem.ts";
import { SENTENCES } from "./problems.ts";
import { type Fetch, requestID, respond, type WorkerResponse } from "./response.ts";
import { notFound, routeOf } from "./route.ts";
import { hasPolicy, planSingle, singleTarget } from "./single.ts";
import { malformed, percentDecode, targetOf } from "./target.ts";
import { withTimeout } from "./timeout.ts";
import { Updater } from "./updater.ts";

/** A request, as it was sent. */
export interface RawRequest {
  readonly method: string;
  /** The path and the query, neither decoded nor normalized. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Aborted when the client has disconnected; null if the platform then ends the request itself. */
  readonly signal: AbortSignal | null;
  /** The scheme: http or https. */
  readonly proto: string;
}

/** The dependencies of the worker; tests replace the platform's fetch and console. */
export interface Dependencies {
  readonly engine: Engine;
  readonly config: Config;
  readonly fetch?: Fetch;
  readonly log?: Log;
}

const platformFetch: Fetch = (url, init) => fetch(url, init);
const platformLog: Log = (message) => console.error(message);

type IdentifiedRequest = RawRequest & { readonly id: string };

const BATCH = "/v1/emails";

/** The longest batch that the worker parses, far above 64 usual addresses. */
const MAX_BATCH = 64 << 10;

/** The origin refuses longer bodies (1 MiB), so it gets one byte more at most. */
const MAX_FORWARDED = (1 << 20) + 1;

/**
 * The origin refuses longer calls of hooks and longer messages of assistants (256 KiB), so it
 * gets one byte more at most.
 */
const MAX_FORWARDED_START = (256 << 10) + 1;

/** The time limit for the start of a body. */
const READ_TIMEOUT_MS = 15_000;

export class Worker {
  /** Updates the lists; undefined if no feed is set. Each platform's entry calls it. */
  readonly lists: Updater | undefined;
  readonly #engine: Engine;
  readonly #check: Check;
  readonly #config: Config;
  readonly #fetch: Fetch;
  readonly #log: Log;
  readonly #origin: Origin;

  constructor({ engine, config, fetch = platformFetch, log = platformLog }: Dependencies) {
    this.lists = config.lists && new Updater({ engine, fetch, log, ...config.lists });
    this.#engine = engine;
    this.#check = (email, flags = 0) => engine.check(email, config.flags | flags);
    this.#config = config;
    this.#fetch = fetch;
    this.#log = log;
    this.#origin = new Origin(config, fetch, log);
  }

  /** Responds to a platform's Request; never rejects. */
  fetch(request: Request, signal: AbortSignal | null): Promise<Response> {
    const { method, url, headers } = request;
    // A GET has none; each getter is a call into the platform.
    const body = method === "GET" ? null : request.body;
    const proto = url.slice(0, url.indexOf(":"));
    return this.respond({ method, target: targetOf(url), headers, body, signal, proto });
  }

  /** Responds to a request; never rejects. */
  async respond(raw: RawRequest): Promise<Response> {
    const id = requestID(raw.headers.get("X-Request-Id"));
    try {
      return await this.#route({ ...raw, id });
    } catch (error) {
      this.#logDefect(error);
      return respond(problemResponse(problem("INTERNAL_ERROR", SENTENCES.defect)), id, raw.method);
    }
  }

  async #route(request: IdentifiedRequest): Promise<Response> {
    const send = (response: WorkerResponse) => respond(response, request.id, request.method);
    const bad = malformed(request.target, request.headers);
    if (bad !== undefined) return send(problemResponse(bad));
    const route = routeOf(request.method, request.target, this.#config.pages);
    switch (route.to) {
      case "response":
        return send(route.response);
      case "versions":
        return send({ status: 200, body: JSON.stringify(this.#engine.versions()) });
      case "page":
        return this.#page(request, route.target);
      case "usage":
        return send(await this.#usage(request, route.target));
      case "hook":
        return send(await this.#hook(request, route.target));
      case "mcp":
        return send(await this.#mcp(request, route.target));
      case "single":
        return send(await this.#single(request, route));
      case "batch":
        return send(await this.#batch(request));
    }
  }

  async #single(
    request: IdentifiedRequest,
    { encoded, query }: { encoded: string; query: string },
  ): Promise<WorkerResponse> {
    const key = readKey(request.headers);
    if (isProblem(key)) return problemResponse(key);
    const email = percentDecode(encoded);
    if (email === undefined || !(hasPolicy(query) || this.#origin.forwards(key))) {
      const plan =
        this.#plan(() => planSingle(this.#check, email, query))
        ?? planProblem(problem("INTERNAL_ERROR", SENTENCES.checksFailed));
      const response = await this.#execute(plan, key, request);
      if (response !== undefined) return response;
      if (email === undefined) return plan.finish([]); // the origin's HTTP server would refuse it
    }
    const target = singleTarget(email, query);
    return this.#forwardOperation({ ...request, method: "GET", target, body: null });
  }

  async #batch(request: IdentifiedRequest): Promise<WorkerResponse> {
    const arrival = Date.now();
    const key = readKey(request.headers);
    if (isProblem(key)) return problemResponse(key);
    const body = new Body(request.body);
    const start = await readStart(body, request.signal);
    if (start === undefined) return truncated(body);
    const isParsed = body.ended && !this.#origin.forwards(key);
    const given = isParsed ? parseBatch(request.headers, start) : undefined;
    const plan = given && this.#plan(() => planBatch(this.#check, given, arrival));
    const planned = plan && (await this.#execute(plan, key, request));
    if (planned !== undefined) return planned;
    const whole = body.whole(start, MAX_FORWARDED);
    const response = await this.#forwardOperation({ ...request, target: BATCH, body: whole });
    // The origin may respond, to a wrong key for instance, before it has read all of the
    // body. Then it does not matter that the rest cannot be read.
    if (body.broken && response.status === 503) return truncated(body);
    body.cancel();
    return response;
  }

  async #usage(request: IdentifiedRequest, target: string): Promise<WorkerResponse> {
    const key = readKey(request.headers);
    if (isProblem(key)) return problemResponse(key);
    return this.#forwardOperation({ ...request, method: "GET", target, body: null });
  }

  /**
   * Forwards a call of a sign-up hook. The origin has the secrets, the policies and
   * the record of the calls that have a response, and charges: a decision here would
   * need the same round trip, and the secrets in one more place.
   */
  async #hook(request: IdentifiedRequest, target: string): Promise<WorkerResponse> {
    if (request.method !== "POST")
      return this.#forwardOperation(
        { ...request, method: "GET", target, body: null },
        readHookResponse,
      );
    return this.#forwardStart(request, target, readHookResponse);
  }

  /**
   * Forwards a message of an assistant. What describes the tools costs nothing, and the origin
   * has it; a call of a tool needs the round trip in any case.
   */
  async #mcp(request: IdentifiedRequest, target: string): Promise<WorkerResponse> {
    const key = readKey(request.headers);
    if (isProblem(key)) return problemResponse(key);
    return this.#forwardStart(request, target, readMCPResponse);
  }

  /** Forwards a request with its body, or with the start of a body that is too long. */
  async #forwardStart(
    request: IdentifiedRequest,
    target: string,
    read: typeof readResponse,
  ): Promise<WorkerResponse> {
    const body = new Body(request.body);
    const start = await readStart(body, request.signal, MAX_FORWARDED_START);
    if (start === undefined) return truncated(body, "A");
    const response = await this.#forwardOperation(
      { ...request, target, body: start.subarray(0, MAX_FORWARDED_START) },
      read,
    );
    body.cancel();
    return response;
  }

  /** Forwards a request for a page of the origin, and streams the response. */
  async #page(request: IdentifiedRequest, target: string): Promise<Response> {
    const { id, method } = request;
    if (!isUnchanged(this.#config.origin, target)) return respond(notFound(), id, method);
    const body = method === "POST" ? request.body : null;
    try {
      return await this.#forward({ ...request, target, body }, async (page) => pageResponse(page));
    } catch (error) {
      this.#logForwarding(request, nameOf(error));
      return respond(problemResponse(unavailable()), id, method);
    }
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
    { id, headers, signal }: IdentifiedRequest,
  ): Promise<WorkerResponse | undefined> {
    const context = { key, id, pageOrigin: headers.get("Origin"), signal };
    const admission = await this.#origin.admit(plan, context);
    if (admission === "forward") return undefined;
    if ("problem" in admission) return admission.problem;
    const response = plan.finish(admission.lookups);
    return { ...response, headers: { ...response.headers, ...admission.keyHeaders } };
  }

  /** Forwards an operation that the worker does not handle by itself. */
  async #forwardOperation(request: ForwardedRequest, read = readResponse): Promise<WorkerResponse> {
    try {
      const response = await this.#forward(request, read);
      if (response !== undefined) return response;
      this.#logForwarding(request, "unexpected response");
    } catch (error) {
      this.#logForwarding(request, nameOf(error));
    }
    return problemResponse(unavailable());
  }

  #forward<T>(request: ForwardedRequest, use: (response: Response) => Promise<T>): Promise<T> {
    return withTimeout(this.#config.timeoutMS, request.signal, async (signal) =>
      use(await forward(this.#config.origin, this.#fetch, { ...request, signal })),
    );
  }

  /** Logs why the origin's response is missing, unless the client has disconnected. */
  #logForwarding({ signal }: ForwardedRequest, why: string): void {
    if (!signal?.aborted) this.#log(`origin: a request could not be forwarded (${why})`);
  }

  /** Logs the name of the error only: its message may quote the input. */
  #logDefect(error: unknown): void {
    this.#log(`defect: ${nameOf(error)}`);
  }
}

/** Reads the start of a body; returns undefined if the client aborts it or is too slow. */
async function readStart(body: Body, signal: AbortSignal | null, limit = MAX_BATCH) {
  try {
    return await withTimeout(READ_TIMEOUT_MS, signal, () => body.readStart(limit));
  } catch {
    return undefined;
  }
}

/** Returns the response to an incomplete request (RFC 9112 section 8). The origin is not asked. */
function truncated(body: Body, shape: "A" | "B" = "B"): WorkerResponse {
  body.cancel();
  return problemResponse(problem("INVALID_REQUEST", SENTENCES.brokeOff(String(body.size))), shape);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
