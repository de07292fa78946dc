import assert from "node:assert/strict";
import { test } from "node:test";

import { admitted, ask, batch, KEY, workerBefore } from "./testing.ts";

test("only domains and counts go to the origin", async () => {
  const { worker, asked } = workerBefore(() => admitted([true, null]));
  const emails = ["secret.name@example.org", "other.name@Example.ORG", "support@example.org", "x@b\u00fccher.example",
    "y@[192.0.2.1]", "no address", "secret.name@example.org"];
  const sent = batch(JSON.stringify({ emails }), { "X-Request-Id": "r1", Cookie: "c", Authorization: "Bearer other" });
  assert.equal((await worker.answer(sent)).status, 200);
  const [request] = asked;
  assert.equal(request?.url, "http://origin.test/v1/edge/admit");
  assert.equal(request.method, "POST");
  assert.deepEqual(await request.clone().json(), {
    operation: "batch", points: 6, tally: { valid: 1, invalid: 1 }, domains: [
      { name: "example.org", addresses: 3, tally: { valid: 3, role: 1 } },
      { name: "xn--bcher-kva.example", addresses: 1, tally: { valid: 1 } },
    ],
  });
  const body = await request.text();
  for (const part of ["@", "name@", "secret", "other", "support", "192.0.2.1", "no address", "b\u00fccher"]) {
    assert.equal(body.includes(part), false, part);
  }
  const headers = ["X-API-Key", "Authorization", "X-Edge-Secret", "X-Request-Id", "Cookie"];
  assert.deepEqual(headers.map((name) => request.headers.get(name)), [KEY, null, "s", "r1", null]);
});

test("a single validation sends its tally with its domain, or without one for a literal", async () => {
  const { worker, asked } = workerBefore(async (request) =>
    admitted((await request.json() as { domains: unknown[] }).domains.map(() => true)));
  for (const address of ["jane@gmial.com", "jane@%5B192.0.2.1%5D"]) {
    assert.equal((await worker.answer(ask(`/v1/email/${address}`))).status, 200, address);
  }
  assert.deepEqual(await Promise.all(asked.map((request) => request.json())), [
    { operation: "single", points: 1, domains: [{ name: "gmial.com", addresses: 1, tally: { valid: 1, typo: 1 } }] },
    { operation: "single", points: 1, tally: { valid: 1 }, domains: [] },
  ]);
});

test("a partial batch leaves out what was not finished", async () => {
  const { worker } = workerBefore(() => admitted([null, "DNS_TIMEOUT"]));
  const response = await worker.answer(batch('{"emails":["a@one.example","b@two.example","c"]}'));
  const body = await response.json() as { results: { email: string; status: string; error: unknown }[] };
  assert.deepEqual(body.results[0]?.error, { code: "DNS_TIMEOUT", message: "DNS lookup timed out for domain two.example" });
  assert.deepEqual({ ...body, results: body.results.map(({ email, status }) => [email, status]), processing_time_ms: 0 }, {
    success: true, partial: true, total: 2, valid_count: 0, invalid_count: 1, error_count: 1, usage_points: 2, processing_time_ms: 0,
    results: [["b@two.example", "error"], ["c", "success"]],
  });
});

test("a key of the wrong form is refused without a round trip", async () => {
  const { worker, asked } = workerBefore(() => admitted([true]));
  assert.equal((await worker.answer(ask("/v1/email/a@b", { headers: { "X-API-Key": "ask_" } }))).status, 401);
  assert.equal(asked.length, 0);
});

test("with bad input the origin still judges key and rate first", async () => {
  const refused = '{"status":429,"title":"Too Many Requests","detail":"wait"}';
  const headers = { "Content-Type": "application/json", "Retry-After": "7" };
  const { worker, asked } = workerBefore(() => new Response(refused, { status: 429, headers }));
  const response = await worker.answer(ask("/v1/email/none"));
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("Retry-After"), "7");
  assert.equal(await response.text(), refused);
  assert.deepEqual(await asked[0]?.json(), { operation: "single", points: 0, domains: [] });
});

test("a body over the limit is not read to its end", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({ pull(controller) { pulled++; controller.enqueue(new Uint8Array(64 << 10)); } });
  const { worker } = workerBefore(() => admitted([]));
  const response = await worker.answer({ ...batch(""), body: endless });
  assert.equal(response.status, 413);
  assert.equal((await response.json() as { error: { code: string } }).error.code, "BODY_TOO_LARGE");
  assert.ok(pulled < 20, `${pulled} pieces of 64 KiB`);
});

test("a declared length over the limit is refused unread", async () => {
  const unread = new ReadableStream<Uint8Array>({ pull() { throw new Error("read"); } }, { highWaterMark: 0 });
  const { worker } = workerBefore(() => admitted([]));
  assert.equal((await worker.answer({ ...batch("", { "Content-Length": "1048577" }), body: unread })).status, 413);
});

test("unknown paths go to the origin as they came, but not its private ones", async () => {
  const { worker, asked } = workerBefore(() => new Response("page", { status: 418, headers: { "Set-Cookie": "a=b", "Content-Encoding": "gzip", "Content-Length": "99" } }));
  const form = ask("/dashboard/keys?x=%2F", { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", "X-Edge-Secret": "guess", Host: "edge.example", Cookie: "c=d" }, body: new Response("name=n").body });
  const response = await worker.answer(form);
  assert.deepEqual([response.status, await response.text(), response.headers.get("Set-Cookie"), response.headers.get("Content-Encoding")], [418, "page", "a=b", null]);
  const [request] = asked;
  assert.equal(request?.url, "http://origin.test/dashboard/keys?x=%2F");
  assert.equal(await request.text(), "name=n");
  assert.deepEqual(["Cookie", "X-Edge-Secret", "X-Forwarded-Host", "X-Forwarded-Proto"].map((name) => request.headers.get(name)), ["c=d", null, "edge.example", "https"]);
  for (const path of ["/metrics", "/readyz", "/v1/edge/admit"]) assert.equal((await worker.answer(ask(path))).status, 404, path);
  assert.equal(asked.length, 1);
});

test("without forwarding, unknown paths are refused", async () => {
  const { worker, asked } = workerBefore(() => new Response("page"), { forward: false });
  const response = await worker.answer(ask("/dashboard"));
  assert.equal(response.status, 404);
  assert.equal((await response.json() as { code: string }).code, "NOT_FOUND");
  assert.equal(asked.length, 0);
});

test("another media type is refused in the shape of a batch", async () => {
  const { worker } = workerBefore(() => admitted([]));
  for (const headers of [{ "Content-Type": "text/plain" }, { "Content-Encoding": "gzip" }]) {
    const response = await worker.answer(batch("{}", headers));
    assert.equal(response.status, 415);
    const { success, error } = await response.json() as { success: boolean; error: Record<string, unknown> };
    assert.equal(success, false);
    assert.equal(error.code, "UNSUPPORTED_MEDIA_TYPE");
    assert.equal(typeof error.message, "string");
  }
});

test("a batch with an Idempotency-Key goes to the origin whole", async () => {
  const answer = '{"success":true}';
  const { worker, asked } = workerBefore(() => new Response(answer, { headers: {
    "Content-Type": "application/json", "X-Usage-Current": "2", "Idempotency-Replayed": "true", "Set-Cookie": "no",
  } }));
  const body = '{ "emails": ["a@example.org"] }';
  const response = await worker.answer(batch(body, { "Idempotency-Key": "one" }));
  assert.equal(await response.text(), answer);
  const headers = ["X-Usage-Current", "Idempotency-Replayed", "Set-Cookie"];
  assert.deepEqual(headers.map((name) => response.headers.get(name)), ["2", "true", null]);
  assert.equal(asked[0]?.url, "http://origin.test/v1/emails");
  assert.equal(await asked[0].text(), body);
});

test("what refuses a batch with an Idempotency-Key passes through", async () => {
  for (const status of [400, 402, 409, 413, 415, 422, 429]) {
    const refused = '{"success":false,"error":{"code":"C","message":"m"}}';
    const { worker } = workerBefore(() => new Response(refused, { status, headers: { "Content-Type": "application/json" } }));
    const response = await worker.answer(batch('{"emails":["a@b"]}', { "Idempotency-Key": "one" }));
    assert.deepEqual([response.status, await response.text(), response.headers.get("Retry-After")], [status, refused, null]);
  }
});

test("failures are logged without address and key", async () => {
  const { worker, logged } = workerBefore(() => { throw new Error(`https://x/?${KEY} jane@example.org`); });
  assert.equal((await worker.answer(ask("/v1/email/jane@example.org"))).status, 503);
  assert.equal((await worker.answer(batch('{"emails":["jane@example.org"]}', { "Idempotency-Key": "one" }))).status, 503);
  assert.equal((await worker.answer(ask("/jane@example.org"))).status, 503);
  assert.equal(logged.length, 3);
  for (const line of logged) assert.doesNotMatch(line, /jane|ask_/);
});

test("a caller who is gone is no failure of the origin", async () => {
  const gone = new AbortController();
  const { worker, logged } = workerBefore(() => { gone.abort(); return new Promise<Response>(() => undefined); });
  assert.equal((await worker.answer({ ...ask("/v1/email/jane@example.org"), signal: gone.signal })).status, 503);
  assert.deepEqual(logged, []);
});

test("an odd request id is replaced", async () => {
  const { worker } = workerBefore(() => admitted([true]));
  const id = async (given: string) => (await worker.answer(ask("/v1/email/a@example.org", { headers: { "X-Request-Id": given } }))).headers.get("X-Request-Id");
  assert.equal(await id("a-Z_0.9:x"), "a-Z_0.9:x");
  for (const odd of ["", "a b", "<x>", "x".repeat(129)]) assert.match(await id(odd) ?? "", /^[A-Z2-7]{26}$/);
});
