/**
 * The edge worker. It answers both operations of /v1 as the origin does: it runs
 * the module itself, and the origin judges the key and the rate, asks DNS and
 * charges. A request becomes a value first (route.ts, plan.ts), which is then
 * carried out; entry/ has what differs between platforms.
 */

import { type Answer, respond } from "./answer.ts";
import { planBatch } from "./batch.ts";
import { readBody } from "./body.ts";
import type { Config } from "./config.ts";
import { within } from "./deadline.ts";
import type { Engine } from "./engine.ts";
import { fault, isFault, refuse, unreached } from "./fault.ts";
import { forward, type Forwarded, passOn, takeAnswer } from "./forward.ts";
import { readKey } from "./key.ts";
import { type Fetch, type Log, Origin } from "./origin.ts";
import { type Plan, planRefusal } from "./plan.ts";
import { requestID } from "./request-id.ts";
import { routeOf } from "./route.ts";
import { planSingle } from "./single.ts";
import { targetOf } from "./target.ts";

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
      return respond(refuse(fault("INTERNAL_ERROR", "Something went wrong on our side; nothing was charged. "
        + "Try again, and send the request id to support if it persists.")), id);
    }
  }

  async #route(step: Step): Promise<Response> {
    const route = routeOf(step.method, step.target, this.#config.forward);
    switch (route.to) {
      case "refuse": return respond(refuse(route.fault), step.id);
      case "origin": return this.#pass(step);
      case "single": return respond(await this.#single(step, route.encoded), step.id);
      case "batch": return respond(await this.#batch(step), step.id);
    }
  }

  async #single(step: Step, encoded: string): Promise<Answer> {
    const key = readKey(step.headers);
    if (isFault(key)) return refuse(key);
    const plan = this.#plan("single", () => planSingle(this.#engine, this.#config.flags, encoded));
    return this.#act(plan, key, step);
  }

  async #batch(step: Step): Promise<Answer> {
    const start = Date.now();
    const key = readKey(step.headers);
    if (isFault(key)) return refuse(key);
    const body = await readBody(step.headers, step.body);
    if (isFault(body)) return this.#act(planRefusal("batch", body), key, step);
    // The origin stores the answers that an Idempotency-Key replays.
    if (step.headers.has("Idempotency-Key")) return this.#passOnce(step, body);
    const plan = this.#plan("batch", () => planBatch(this.#engine, this.#config.flags, body, start));
    return this.#act(plan, key, step);
  }

  /** A defect of the module becomes a refusal, which comes after those of the origin. */
  #plan(operation: Plan["operation"], make: () => Plan): Plan {
    try {
      return make();
    } catch (failure) {
      this.#logDefect(failure);
      return planRefusal(operation, fault("INTERNAL_ERROR",
        "The checks failed on this input; nothing was charged. Send the request id to support."));
    }
  }

  async #act(plan: Plan, key: string, { id, signal }: Step): Promise<Answer> {
    const admission = await this.#origin.admit(plan, { key, id, signal });
    if ("refusal" in admission) return admission.refusal;
    const answer = plan.finish(admission.mx);
    return { ...answer, headers: { ...answer.headers, ...admission.usage } };
  }

  async #pass(step: Step): Promise<Response> {
    try {
      return passOn(await this.#forward(step, step.body, (response) => Promise.resolve(response)));
    } catch (failure) {
      return respond(this.#unreachable(failure), step.id);
    }
  }

  async #passOnce(step: Step, body: Uint8Array<ArrayBuffer>): Promise<Answer> {
    try {
      return await this.#forward(step, body, takeAnswer);
    } catch (failure) {
      return this.#unreachable(failure);
    }
  }

  #forward<T>(step: Step, body: Forwarded["body"], take: (response: Response) => Promise<T>): Promise<T> {
    const host = step.headers.get("Host") ?? "";
    return within(this.#config.timeoutMS, step.signal, async (signal) =>
      take(await forward(this.#config.origin, this.#fetch, { ...step, body, host }, signal)));
  }

  #unreachable(failure: unknown): Answer {
    this.#log(`origin: a request could not be passed on (${nameOf(failure)})`);
    return refuse(unreached());
  }

  /** Logs the kind of a defect only: its message may quote the input. */
  #logDefect(failure: unknown): void {
    this.#log(`defect: ${nameOf(failure)}`);
  }
}

function nameOf(failure: unknown): string {
  return failure instanceof Error ? failure.name : typeof failure;
}
