import assert from "node:assert/strict";
import { test } from "node:test";

import { get, json, newWorker } from "../test/testing.ts";

const SHAPE_B = '{"success":false,"error":{"code":"INSUFFICIENT_USAGE","message":"m"}}';

/** Returns the status and Retry-After of a single validation whose admission has this response. */
async function admittedWith(status: number, body: string, headers: Record<string, string>) {
  const { worker } = newWorker(() => json(status, body, headers));
  const response = await worker.respond(get("/v1/email/jane@example.org"));
  return [response.status, response.headers.get("Retry-After")];
}

test("a problem of the origin keeps a well-formed Retry-After, and a 503 always has one", async () => {
  for (const [status, wait, want] of [
    [429, "7", "7"],
    [503, "7", "7"],
    ...["0", "-1", "1.5", "soon", "Fri, 31 Dec 1999 23:59:59 GMT"].flatMap(
      (odd) =>
        [
          [503, odd, "1"],
          [429, odd, null],
        ] as const,
    ),
  ] as const) {
    const got = await admittedWith(status, `{"status":${status}}`, { "Retry-After": wait });
    assert.deepEqual(got, [status, want], wait);
  }
  assert.deepEqual(await admittedWith(503, '{"status":503}', {}), [503, "1"]);
  assert.deepEqual(await admittedWith(429, '{"status":429}', {}), [429, null]);
  assert.deepEqual(await admittedWith(402, SHAPE_B, {}), [402, null]);
});

const USAGE = { "X-Usage-Current": "1", "X-Usage-Limit": "9" };

test("a 200 that is no reply to the admission is 503", async () => {
  for (const [body, headers] of [
    ['{"ok":true}', {}],
    ['{"mx":[true],"partial":false}', {}],
    ['{"mx":[true],"partial":false}', { ...USAGE, "X-Usage-Current": "many" }],
    ...["[]", "[true,true]", '["yes"]', "[{}]", "[null]", '["DNS_TIMEOUT"]'].map(
      (mx) => [`{"mx":${mx},"partial":false}`, USAGE] as const,
    ),
  ] as const)
    assert.deepEqual(await admittedWith(200, body, headers), [503, "1"], body);
  assert.equal((await admittedWith(200, '{"mx":[true]}', USAGE))[0], 200);
});

test("no other status, body or media type of the origin is passed to the client", async () => {
  for (const status of [400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500]) {
    const isPassed = [401, 402, 429, 500].includes(status);
    for (const body of [
      ...(isPassed ? [] : [SHAPE_B]),
      '{"success":false,"error":null}',
      '{"status":1}',
      "null",
      "<p>",
    ])
      assert.deepEqual(await admittedWith(status, body, {}), [503, "1"], `${status} ${body}`);
    const page = { "Content-Type": "text/html" };
    assert.deepEqual(await admittedWith(status, SHAPE_B, page), [503, "1"], `${status}`);
  }
});
