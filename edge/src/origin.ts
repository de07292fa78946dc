/**
 * The origin's edge endpoint, POST /v1/edge/admit (origin/api/edge.go): one
 * round trip that judges the key and the rate, asks DNS and charges. The worker
 * sends domains and counts, and no address. Every failure on the way is the
 * contract's 503.
 */

import type { Answer } from "./answer.ts";
import { gather } from "./body.ts";
import type { Config } from "./config.ts";
import { type Limits, limitsOf, refusalOf } from "./pass-through.ts";
import type { MX, Plan } from "./plan.ts";
import { refuse, unreached } from "./problem.ts";
import { within } from "./timeout.ts";

/** The origin's decision: the domains' MX, or a refusal to pass to the caller. */
export type Admission =
  | { readonly mx: readonly MX[]; readonly limits: Limits }
  | { readonly refusal: Answer };

/** Who asks. The signal is aborted when the caller has left. */
export interface Caller {
  readonly key: string;
  readonly id: string;
  readonly signal: AbortSignal;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Writes a line for the operator, never with an address or a key. */
export type Log = (message: string) => void;

/** Above any reply of the origin, which has about 20 bytes for each of 64 look-ups. */
const MAX_ANSWER = 64 << 10;

/** What every 200 of the endpoint has; another service would not. */
const REQUIRED = ["X-Usage-Current", "X-Usage-Limit"];

const decoder = new TextDecoder();

export class Origin {
  readonly #config: Config;
  readonly #fetch: Fetch;
  readonly #log: Log;

  constructor(config: Config, fetch: Fetch, log: Log) {
    this.#config = config;
    this.#fetch = fetch;
    this.#log = log;
  }

  async admit(plan: Plan, caller: Caller): Promise<Admission> {
    try {
      return await within(this.#config.timeoutMS, caller.signal, async (signal) => {
        const url = `${this.#config.origin}/v1/edge/admit`;
        const response = await this.#fetch(url, this.#request(plan, caller, signal));
        return this.#judge(plan, response, await gather(response.body, MAX_ANSWER));
      });
    } catch (failure) {
      if (!caller.signal.aborted) this.#log(`origin: ${reason(failure)}`);
      return unreachable();
    }
  }

  #request(
    { operation, points, tally, domains }: Plan,
    { key, id }: Caller,
    signal: AbortSignal,
  ): RequestInit {
    const headers = {
      "Content-Type": "application/json",
      "X-Edge-Secret": this.#config.secret,
      "X-API-Key": key,
      "X-Request-Id": id,
    };
    const body = JSON.stringify({ operation, points, tally, domains });
    return { method: "POST", headers, body, redirect: "manual", signal };
  }

  #judge(plan: Plan, response: Response, bytes: Uint8Array | undefined): Admission {
    const body = decoder.decode(bytes);
    const limits = limitsOf(response.headers);
    if (response.status === 200) {
      const mx = mxOf(plan, body);
      if (mx !== undefined && REQUIRED.every((name) => name in limits)) return { mx, limits };
    }
    const refusal = refusalOf(response, body, limits);
    if (refusal !== undefined) return { refusal };
    const hint = hints[response.status] ?? "";
    this.#log(`origin: status ${response.status} is no answer to /v1/edge/admit${hint}`);
    return unreachable();
  }
}

const hints: Readonly<Record<number, string>> = {
  403: "; ADDRSPEC_EDGE_SECRET is not the origin's --edge-secret",
  404: "; is the origin started with --edge-secret?",
  200: "; is another service at ADDRSPEC_ORIGIN?",
};

function unreachable(): Admission {
  return { refusal: refuse(unreached()) };
}

/** One entry for each domain, of the kinds that the operation may have. */
function mxOf(plan: Plan, body: string): MX[] | undefined {
  const { mx } = (parseObject(body) ?? {}) as { mx?: unknown };
  if (!Array.isArray(mx) || mx.length !== plan.domains.length) return undefined;
  const known = (entry: unknown) =>
    typeof entry === "boolean"
    || (plan.operation === "batch"
      && (entry === null || entry === "DNS_TIMEOUT" || entry === "DNS_FAILURE"));
  return mx.every(known) ? (mx as MX[]) : undefined;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The kind of failure; its message might quote a URL. */
function reason(failure: unknown): string {
  if (!(failure instanceof Error)) return "failed";
  if (failure.name === "TimeoutError") return "no answer within ADDRSPEC_ORIGIN_TIMEOUT_MS";
  return `unreachable (${failure.name})`;
}
