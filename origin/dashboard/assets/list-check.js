/** Checks addresses in batches: through the account, or with the module in this browser. */

/** @typedef {import("./list-file.js").Result} Result */
/** @typedef {import("./list-file.js").Refusal} Refusal */

/**
 * Checks some different addresses. What it leaves out is checked again.
 * @typedef {(addresses: string[], signal: AbortSignal) => Promise<Map<string, Result>>} Checker
 */

/** The most addresses of a request: the API's limit. */
const BATCH = 64;
/** How often a request is sent that gets no response, or 503. */
const ATTEMPTS = 8;
const MAX_WAIT = 30_000; // milliseconds between two attempts

/** Why checking ends before the last address, in a sentence that says what to do. */
export class Halt extends Error {}

/**
 * Checks the addresses that have no result yet, or one that may be another the next
 * time, until signal ends it.
 * @param {string[]} addresses
 * @param {Map<string, Result>} results
 * @param {Checker} check
 * @param {AbortSignal} signal
 * @param {() => void} onProgress
 */
export async function checkList(addresses, results, check, signal, onProgress) {
  const todo = leftOf(addresses, results);
  for (let at = 0; at < todo.length; at += BATCH) {
    const batch = todo.slice(at, at + BATCH);
    const found = await check(batch, signal);
    if (found.size === 0) throw new Halt("The service left out all addresses. Try again later.");
    for (const [address, result] of found) results.set(address, result);
    todo.push(...batch.filter((address) => !found.has(address)));
    onProgress();
    await pause(0, signal); // the page shows the progress and gets its events, such as "stop"
  }
}

/**
 * The addresses that are to be checked: those without a result and those that failed.
 * @param {string[]} addresses
 * @param {Map<string, Result>} results
 */
export function leftOf(addresses, results) {
  return addresses.filter((address) => !results.get(address)?.facts);
}

/**
 * What was found, as the summary of `addrspec check` has it. Shares are of the rows that were checked,
 * and those of rows that could not be are of all.
 * @param {import("./list-file.js").List} list
 * @param {Map<string, Result>} results
 * @param {boolean} lookedUp whether MX records were looked up
 * @returns {[string, string, string][]} names, numbers and shares
 */
export function figuresOf({ rows }, results, lookedUp) {
  const failed = rows.flatMap(({ failure }) => failure?.code ?? []);
  const none = failed.filter((code) => code === "NO_ADDRESS").length;
  const sound = rows.filter(({ failure }) => !failure);
  const found = sound.map(({ address }) => results.get(address) ?? {});
  const having = (/** @type {(facts: Record<string, unknown>) => unknown} */ test) =>
    found.filter(({ facts }) => facts && test(facts)).length;
  const errors = found.filter(({ failure }) => failure).length;
  const checked = having(() => true) + errors;
  /** @type {(name: string, n: number, whole?: number) => [string, string, string]} */
  const figure = (name, n, whole = checked) => [name, n.toLocaleString("en"), shareOf(n, whole)];
  const noMX = having(
    ({ valid, mx, domain }) => valid && mx === false && !`${domain}`.startsWith("["),
  );
  return [
    figure(
      "valid",
      having(({ valid }) => valid),
    ),
    ...["typo", "disposable", "role", "gibberish"].map((name) =>
      figure(
        `of them ${name}`,
        having(({ valid, [name]: has }) => valid && has),
      ),
    ),
    ...(lookedUp ? [figure("of them no MX record", noMX)] : []),
    figure(
      "invalid",
      having(({ valid }) => !valid),
    ),
    figure("errors", errors),
    figure("rows without an address", none, rows.length),
    figure("rows that cannot be read", failed.length - none, rows.length),
  ];
}

/** A part in percent. One that rounds to nothing or to all is not shown as such. @param {number} part @param {number} whole */
function shareOf(part, whole) {
  const percent = (100 * part) / whole;
  if (whole === 0) return "";
  if (part > 0 && percent < 0.1) return "< 0.1 %";
  return part < whole && percent > 99.9 ? "> 99.9 %" : `${percent.toFixed(1)} %`;
}

/** @typedef {{ check(email: string, options: { details: true }): Record<string, unknown> }} Module */

/** Checks with the module, without MX. @param {Module} module @returns {Checker} */
export const offlineChecker = (module) => async (addresses) =>
  new Map(addresses.map((email) => [email, factsOf(module.check(email, { details: true }))]));

/** @param {Record<string, unknown>} result with its details @returns {Result} */
function factsOf({ details, ...facts }) {
  const { refusal } = /** @type {{ refusal: Refusal | null }} */ (details);
  return { facts, refusal };
}

/**
 * @typedef {object} Account
 * @property {string} url where batches are sent
 * @property {string} token of forms
 * @property {(points: number) => void} onCharge
 * @property {(url: string, init: RequestInit) => Promise<Response>} [send]
 * @property {(ms: number, signal: AbortSignal) => Promise<void>} [wait]
 */

/**
 * Checks through the account, one request after the other. A request that failed is
 * sent again with the same Idempotency-Key, so that it is paid for once.
 * @param {Account} account
 * @returns {Checker}
 */
export function accountChecker({
  url,
  token,
  onCharge,
  send = (to, init) => fetch(to, init),
  wait = pause,
}) {
  let gap = 0; // milliseconds from one request to the next, by the account's rate
  return async (emails, signal) => {
    const request = {
      method: "POST",
      redirect: /** @type {const} */ ("error"),
      body: JSON.stringify({ emails, details: true }), // which have why an address is not valid
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "Idempotency-Key": [...crypto.getRandomValues(new Uint32Array(4))].join("-"),
        "X-Form-Token": token,
      },
    };
    for (let attempt = 1; ; attempt++) {
      await wait(gap, signal);
      const response = await send(url, request).catch(() => null);
      gap = gapOf(response) ?? gap;
      if (response?.status === 200) {
        const { usage_points, results } = await response.json();
        onCharge(usage_points);
        return new Map(results.map(resultOf));
      }
      if (response?.status === 429 && response.headers.has("Retry-After")) attempt--; // no failure
      await wait(await waitAfter(response, attempt), signal);
    }
  };
}

/**
 * The time between two requests at the rate that a response names
 * (draft-ietf-httpapi-ratelimit-headers), a little more because arrivals vary.
 * @param {Response | null} response
 */
function gapOf(response) {
  const rate = /"rate";q=(\d+);w=1/.exec(response?.headers.get("RateLimit-Policy") ?? "")?.[1];
  return rate === undefined ? undefined : 1050 / Math.max(1, Number(rate));
}

/**
 * @param {{ email: string, result: Record<string, unknown> | null, error: import("./list-file.js").Failure | null }} item
 * @returns {[string, Result]}
 */
function resultOf({ email, result, error }) {
  return [email, result ? factsOf(result) : { failure: error ?? { code: "", message: "" } }];
}

/**
 * How many milliseconds to wait before the next attempt. Throws a Halt if there is none.
 * @param {Response | null} response null if none came
 * @param {number} attempt from 1
 */
async function waitAfter(response, attempt) {
  const seconds = Number(response?.headers.get("Retry-After") ?? 0);
  if (response?.status === 429 && seconds > 0) return 1000 * seconds;
  const again = response === null || response.status === 409 || response.status >= 500;
  if (!again) throw new Halt(await reasonOf(response));
  if (attempt >= ATTEMPTS) {
    throw new Halt(
      response === null
        ? "The service cannot be reached. Check your connection."
        : `The service could not check a batch (status ${response.status}). Try again later.`,
    );
  }
  return Math.max(1000 * seconds, Math.min(MAX_WAIT, 500 * 2 ** attempt));
}

/** Why no further attempt makes sense. @param {Response} response */
async function reasonOf(response) {
  const body = await response.json().catch(() => ({}));
  const { remaining, required } = body.error ?? body;
  const left =
    remaining === undefined ? "" : ` ${remaining} are left and the next batch needs ${required}.`;
  switch (response.status) {
    case 402:
    case 429: // without Retry-After: the month's points are used up
      return `Your account has too few points.${left}`;
    case 401:
    case 403:
      return "You are signed out, or this page is out of date. Load it again and choose the file again.";
    default:
      return `The service refused a batch: ${body.error?.message ?? body.error ?? `status ${response.status}`}`;
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal rejects with its reason
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
