import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPTS = 6;

/**
 * Sends a batch until it has a response. All attempts have the same
 * Idempotency-Key, so the batch is charged once.
 */
async function checkBatch(emails) {
  const request = {
    method: "POST",
    headers: {
      "X-API-Key": process.env.ADDRSPEC_KEY,
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    },
    body: JSON.stringify({ emails }),
  };
  for (let attempt = 1; ; attempt++) {
    const { result, error, wait } = await send(request, attempt);
    if (result) return result;
    if (wait === undefined || attempt === ATTEMPTS) throw error;
    await sleep(wait);
  }
}

/** Makes one attempt; wait is the time until the next one in milliseconds. */
async function send(request, attempt) {
  // Up to 1 s, 2 s, 4 s and so on, at random, so that clients do not return together.
  const backoff = Math.random() * 1000 * 2 ** (attempt - 1);
  try {
    const signal = AbortSignal.timeout(30_000);
    const response = await fetch("http://127.0.0.1:8080/v1/emails", { ...request, signal });
    if (response.ok) return { result: await response.json() };
    const error = new Error(`${response.status}: ${await response.text()}`);
    if (![409, 429, 500, 503].includes(response.status)) return { error };
    const seconds = response.headers.get("Retry-After");
    return { error, wait: seconds ? Number(seconds) * 1000 + Math.random() * 100 : backoff };
  } catch (error) {
    return { error, wait: backoff }; // no response: it is unknown whether the batch was charged
  }
}

console.log("points:", (await checkBatch(["jane@example.org", "info@hotmial.com"])).usage_points);
