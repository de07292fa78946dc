import assert from "node:assert/strict";
import { test } from "node:test";
import { Batches, Halt } from "../assets/batches.js";
import { FakeClock } from "./helpers.js";

/** @typedef {{ emails: string[], key: string, at: number }} Sent */

/**
 * Returns Batches whose requests get the given answers one after the other, and
 * what they sent.
 * @param {((sent: Sent) => Response | null)[]} answers
 */
function batches(...answers) {
  const clock = new FakeClock();
  /** @type {Sent[]} */
  const sent = [];
  const ending = new AbortController();
  const made = new Batches({
    url: "/check", token: "form", run: "run", clock, signal: ending.signal,
    send: async (_, { body, headers }) => {
      const one = { emails: JSON.parse(String(body)).emails, key: new Headers(headers).get("Idempotency-Key") ?? "", at: clock.time };
      sent.push(one);
      const answer = answers.shift()?.(one);
      if (!answer) throw new TypeError("Failed to fetch");
      return answer;
    },
  });
  return { made, sent, clock, ending };
}

/**
 * @param {string[]} emails
 * @param {Record<string, string>} headers
 */
function success(emails, headers = {}) {
  const results = emails.map((email) => ({ email, status: "success", result: { email }, error: null }));
  return Response.json({ usage_points: emails.length, results }, { headers });
}

const all = (/** @type {Sent} */ { emails }) => success(emails);
/**
 * @param {number} status
 * @param {Record<string, string>} headers
 * @param {object} body
 */
const refuse = (status, headers = {}, body = {}) => () => Response.json(body, { status, headers });

test("sends a failed request again with the same key", async () => {
  const { made, sent, clock } = batches(() => null, refuse(503, { "Retry-After": "7" }), refuse(409), refuse(401), all);
  await assert.rejects(made.check(["a", "b"]), { reason: "sign-in" }, "a 401 is repeated only as the first answer");
  assert.equal(new Set(sent.map(({ key }) => key)).size, 1);
  assert.ok(clock.slept.includes(7000), `${clock.slept}`);
  const again = batches(refuse(401), all);
  assert.equal((await again.made.check(["a"])).size, 1);
});

test("uses another key for another body or run", async () => {
  const { made, sent } = batches(all, all, all);
  for (const emails of [["a", "b"], ["b", "a"], ["a", "b"]]) await made.check(emails);
  assert.notEqual(sent[0]?.key, sent[1]?.key);
  assert.equal(sent[0]?.key, sent[2]?.key);
});

test("sends what a partial answer left out", async () => {
  const { made, sent } = batches(({ emails }) => success(emails.slice(0, 2)), all);
  const items = await made.check(["a", "b", "c"]);
  assert.deepEqual([...items.keys()], ["a", "b", "c"]);
  assert.deepEqual(sent.map(({ emails }) => emails), [["a", "b", "c"], ["c"]]);
  assert.notEqual(sent[0]?.key, sent[1]?.key);
});

test("obeys the rate that answers give", async () => {
  const headers = { "RateLimit-Policy": '"rate";q=2;w=1, "points";q=1000;qu="points"', RateLimit: '"rate";r=1;t=1' };
  const limited = (/** @type {Sent} */ { emails }) => success(emails, headers);
  const { made, sent } = batches(limited, limited, limited, limited);
  assert.equal(made.concurrency, 1, "until the rate is known");
  for (let n = 0; n < 4; n++) await made.check([`${n}`]);
  assert.equal(made.concurrency, 4);
  const gaps = sent.slice(1).map(({ at }, n) => at - /** @type {Sent} */ (sent[n]).at);
  for (const gap of gaps) assert.ok(gap >= 500 && gap < 600, `${gaps}`);
});

test("begins requests in order, also at the same time", async () => {
  const limited = (/** @type {Sent} */ { emails }) => success(emails, { "RateLimit-Policy": '"rate";q=1;w=1' });
  const { made, sent } = batches(limited, limited, limited, limited);
  await made.check(["first"]);
  await Promise.all(["a", "b", "c"].map((email) => made.check([email])));
  assert.deepEqual(sent.map(({ emails }) => emails[0]), ["first", "a", "b", "c"]);
});

test("does not wait without a limit", async () => {
  const { made, clock } = batches(all, all, all);
  for (const email of ["a", "b", "c"]) await made.check([email]);
  assert.equal(clock.time, 0);
});

test("waits as long as a 429 says, for all requests", async () => {
  const { made, sent } = batches(all, refuse(429, { "Retry-After": "3" }), all, all);
  await made.check(["a"]);
  await made.check(["b"]);
  await made.check(["c"]);
  assert.ok(/** @type {Sent} */ (sent[2]).at - /** @type {Sent} */ (sent[1]).at >= 3000);
});

/** @type {[string, () => Response | null, string, RegExp][]} */
const HALTS = [
  ["the points are used up", refuse(402, {}, { error: { required: 64, remaining: 7 } }), "points", /7 are left and the next batch needs 64/],
  ["the points of a single are used up", refuse(429, {}, { detail: "Rate limit exceeded" }), "points", /too few points/],
  ["the page is out of date", refuse(403, {}, { code: "FORM_TOKEN" }), "sign-in", /Load it again/],
  ["the body is refused", refuse(400, {}, { error: { message: "emails must be strings" } }), "refused", /emails must be strings/],
];
for (const [name, answer, reason, sentence] of HALTS) {
  test(`halts where ${name}`, async () => {
    const { made, sent } = batches(answer);
    await assert.rejects(made.check(["a"]), (error) => error instanceof Halt && error.reason === reason && sentence.test(error.message));
    assert.equal(sent.length, 1);
  });
}

test("halts after eight attempts", async () => {
  const { made, sent } = batches();
  await assert.rejects(made.check(["a"]), { reason: "network" });
  assert.equal(sent.length, 8);
});

test("halts instead of asking for ever", async () => {
  const { made } = batches(() => success([]));
  await assert.rejects(made.check(["a"]), { reason: "refused" });
});

test("stops waiting when the list is stopped", async () => {
  const { made, sent, ending } = batches(refuse(503), all);
  ending.abort(new Error("stopped"));
  await assert.rejects(made.check(["a"]), { message: "stopped" });
  assert.equal(sent.length, 1, "the first request need not wait");
});
