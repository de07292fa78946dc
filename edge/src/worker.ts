/**
 * The edge worker. It answers the operations of /v1 as the origin does: it runs
 * the module itself, and the origin judges the key and the rate, asks DNS and
 * charges. A request becomes a value first (route.ts, plan.ts), which is then
 * carried out; entry/ has what differs between platforms. Each request makes at
 * most one round trip to the origin.
 */

import { type Answer, respond } from "./answer.ts";
import { malformed } from "./bad-request.ts";
import { planBatch } from "./batch.ts";
import { Body } from "./body.ts";
import type { Config } from "./config.ts";
import type { Engine } from "./engine.ts";
import { type Forwarded, forward, isKept, passOn, takeAnswer } from "./forward.ts";
import { readKey } from "./key.ts";
import { type Fetch, type Log, Origin } from "./origin.ts";
import { cleanBatch } from "./parse-batch.ts";
import { type Plan, planRefusal } from "./plan.ts";
import { isProblem, problem, refuse, unreached } from "./problem.ts";
import { SAY } from "./problems.ts";
import { requestID } from "./request-id.ts";
import { notFound, routeOf } from "./route.ts";
import { planSingle } from "./single.ts";
import { targetOf } from "./target.ts";
import { within } from "./timeout.ts";

/** A request, as it was sent. */
export interface Asked {
  readonly method: string;
  /** Path and query, neither decoded nor cleaned. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  readonly proto: string;
}

/** The dependencies of the worker; tests replace fetch and log. */
export interface Tools {
  readonly engine: Engine;
  readonly config: Config;
  readonly fetch: Fetch;
  readonly log: Log;
}

type Step = Asked & { readonly id: string };

const BATCH = "/v1/emails";

/** The most of a batch that the worker reads itself, far above 64 usual addresses. */
const MAX_READ = 64 << 10;

/** The origin refuses a body that is longer, so the rest need not go there. */
const ENOUGH = (1 << 20) + 1;

/** How long the start of a body may take. */
const READ_MS = 15_000;

export class Worker {
  readonly #engine: Engine;
  readonly #config: Config;
  readonly #fetch: Fetch;
  readonly #log: Log;
  readonly #origin: Origin;

  constructor({ engine, config, fetch, log }: Tools) {
    this.#engine = engine;
    this.#config = config;
    this.#fetch = fetch;
    this.#log = log;
    this.#origin = new Origin(config, fetch, log);
  }

  /** Answers a Request of the platform; never rejects. */
  fetch(request: Request): Promise<Response> {
    const { method, url, headers, body, signal } = request;
    const proto = url.slice(0, url.indexOf(":"));
    return this.answer({ method, target: targetOf(url), headers, body, signal, proto });
  }

  async answer(asked: Asked): Promise<Response> {
    const id = requestID(asked.headers.get("X-Request-Id"));
    try {
      return await this.#route({ ...asked, id });
    } catch (failure) {
      this.#logDefect(failure);
      return respond(refuse(problem("INTERNAL_ERROR", SAY.defect)), id, asked.method);
    }
  }

  async #route(step: Step): Promise<Response> {
    const send = (answer: Answer) => respond(answer, step.id, step.method);
    const wrong = malformed(step.target, step.headers);
    if (wrong !== undefined) return send(refuse(wrong));
    const route = routeOf(step.method, step.target, this.#config.pages);
    switch (route.to) {
      case "answer":
        return send(route.answer);
      case "page":
        return this.#page(step, route.target);
      case "usage":
        return send(await this.#usage(step, route.target));
      case "single":
        return send(await this.#single(step, route.encoded));
      case "batch":
        return send(await this.#batch(step));
    }
  }

  async #single(step: Step, encoded: string): Promise<Answer> {
    const key = readKey(step.headers);
    if (isProblem(key)) return refuse(key);
    const plan =
      this.#plan(() => planSingle(this.#engine, this.#config.flags, encoded))
      ?? planRefusal(problem("INTERNAL_ERROR", SAY.checksFailed));
    return this.#act(plan, key, step);
  }

  async #batch(step: Step): Promise<Answer> {
    const arrival = Date.now();
    const key = readKey(step.headers);
    if (isProblem(key)) return refuse(key);
    const body = new Body(step.body);
    const start = await within(READ_MS, step.signal, () => body.start(MAX_READ)).catch(
      () => undefined,
    );
    if (start === undefined) return brokenOff(body);
    const emails = body.ended ? cleanBatch(step.headers, start) : undefined;
    const plan =
      emails && this.#plan(() => planBatch(this.#engine, this.#config.flags, emails, arrival));
    if (plan !== undefined) return this.#act(plan, key, step);
    const answer = await this.#whole({ ...step, target: BATCH, body: body.from(start, ENOUGH) });
    if (body.broken) return brokenOff(body);
    body.cancel(); // the origin may answer before it has all
    return answer;
  }

  async #usage(step: Step, target: string): Promise<Answer> {
    const key = readKey(step.headers);
    return isProblem(key)
      ? refuse(key)
      : this.#whole({ ...step, method: "GET", target, body: null });
  }

  /** Undefined after a defect of the module, which is logged. */
  #plan(make: () => Plan): Plan | undefined {
    try {
      return make();
    } catch (failure) {
      this.#logDefect(failure);
      return undefined;
    }
  }

  async #act(plan: Plan, key: string, { id, signal }: Step): Promise<Answer> {
    const admission = await this.#origin.admit(plan, { key, id, signal });
    if ("refusal" in admission) return admission.refusal;
    const answer = plan.finish(admission.mx);
    return { ...answer, headers: { ...answer.headers, ...admission.limits } };
  }

  /** A page of the origin, passed on as it comes. */
  async #page(step: Step, target: string): Promise<Response> {
    if (!isKept(this.#config.origin, target))
      return respond(notFound().answer, step.id, step.method);
    const body = step.method === "POST" ? step.body : null;
    try {
      return passOn(
        await this.#forward({ ...step, target, body }, (response) => Promise.resolve(response)),
      );
    } catch (failure) {
      this.#logUnreached(step, nameOf(failure));
      return respond(refuse(unreached()), step.id, step.method);
    }
  }

  /** The origin's answer to an operation. */
  async #whole(request: Forwarded): Promise<Answer> {
    try {
      const answer = await this.#forward(request, takeAnswer);
      if (answer !== undefined) return answer;
      this.#logUnreached(request, "no answer of the contract");
    } catch (failure) {
      this.#logUnreached(request, nameOf(failure));
    }
    return refuse(unreached());
  }

  #forward<T>(request: Forwarded, take: (response: Response) => Promise<T>): Promise<T> {
    return within(this.#config.timeoutMS, request.signal, async (signal) =>
      take(await forward(this.#config.origin, this.#fetch, request, signal)),
    );
  }

  #logUnreached({ signal }: Forwarded, why: string): void {
    if (!signal.aborted) this.#log(`origin: a request could not be passed on (${why})`);
  }

  /** Logs the kind of a defect only: its message may quote the input. */
  #logDefect(failure: unknown): void {
    this.#log(`defect: ${nameOf(failure)}`);
  }
}

/** A request that is not whole is no request (RFC 9112 section 8); the origin need not judge it. */
function brokenOff(body: Body): Answer {
  body.cancel();
  return refuse(problem("INVALID_REQUEST", SAY.brokeOff(String(body.size))), "B");
}

function nameOf(failure: unknown): string {
  return failure instanceof Error ? failure.name : typeof failure;
}
