import assert from "node:assert/strict";
import { test } from "node:test";

import type { Engine } from "./engine.ts";
import { admitted, ask, batch, KEY, workerBefore } from "./testing.ts";

test("only domains and counts go to the origin", async () => {
  const { worker, asked } = workerBefore(() => admitted([true, null]));
  const emails = [
    "secret.name@example.org",
    "other.name@Example.ORG",
    "support@example.org",
    "x@b\u00fccher.example",
    "y@[192.0.2.1]",
    "no address",
    "secret.name@example.org",
  ];
  const sent = batch(JSON.stringify({ emails }), {
    "X-Request-Id": "r1",
    Cookie: "c",
    Authorization: "Bearer other",
  });
  assert.equal((await worker.answer(sent)).status, 200);
  const [request] = asked;
  assert.equal(request?.url, "http://origin.test/v1/edge/admit");
  assert.equal(request.method, "POST");
  assert.deepEqual(await request.clone().json(), {
    operation: "batch",
    points: 6,
    tally: { valid: 1, invalid: 1 },
    domains: [
      { name: "example.org", addresses: 3, tally: { valid: 3, role: 1 } },
      { name: "xn--bcher-kva.example", addresses: 1, tally: { valid: 1 } },
    ],
  });
  const body = await request.text();
  for (const part of [
    "@",
    "name@",
    "secret",
    "other",
    "support",
    "192.0.2.1",
    "no address",
    "b\u00fccher",
  ]) {
    assert.equal(body.includes(part), false, part);
  }
  const headers = ["X-API-Key", "Authorization", "X-Edge-Secret", "X-Request-Id", "Cookie"];
  assert.deepEqual(
    headers.map((name) => request.headers.get(name)),
    [KEY, null, "s", "r1", null],
  );
});

test("a single validation sends its tally with its domain, or without one for a literal", async () => {
  const { worker, asked } = workerBefore(async (request) =>
    admitted(((await request.json()) as { domains: unknown[] }).domains.map(() => true)),
  );
  for (const address of ["jane@gmial.com", "jane@%5B192.0.2.1%5D"]) {
    assert.equal((await worker.answer(ask(`/v1/email/${address}`))).status, 200, address);
  }
  assert.deepEqual(await Promise.all(asked.map((request) => request.json())), [
    {
      operation: "single",
      points: 1,
      domains: [{ name: "gmial.com", addresses: 1, tally: { valid: 1, typo: 1 } }],
    },
    { operation: "single", points: 1, tally: { valid: 1 }, domains: [] },
  ]);
});

test("a partial batch leaves out what was not finished", async () => {
  const { worker } = workerBefore(() => admitted([null, "DNS_TIMEOUT"]));
  const response = await worker.answer(batch('{"emails":["a@one.example","b@two.example","c"]}'));
  const body = (await response.json()) as {
    results: { email: string; status: string; error: unknown }[];
  };
  assert.deepEqual(body.results[0]?.error, {
    code: "DNS_TIMEOUT",
    message: "DNS lookup timed out for domain two.example",
  });
  assert.deepEqual(
    {
      ...body,
      results: body.results.map(({ email, status }) => [email, status]),
      processing_time_ms: 0,
    },
    {
      success: true,
      partial: true,
      total: 2,
      valid_count: 0,
      invalid_count: 1,
      error_count: 1,
      usage_points: 2,
      processing_time_ms: 0,
      results: [
        ["b@two.example", "error"],
        ["c", "success"],
      ],
    },
  );
});

test("a key of the wrong form is refused without a round trip", async () => {
  const { worker, asked } = workerBefore(() => admitted([true]));
  assert.equal(
    (await worker.answer(ask("/v1/email/a@b", { headers: { "X-API-Key": "ask_" } }))).status,
    401,
  );
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

test("a batch that is not clean goes to the origin as it came", async () => {
  const refused = '{"success":false,"error":{"code":"INVALID_REQUEST","message":"m"}}';
  const headers = {
    "Content-Type": "application/json",
    "X-Usage-Current": "3",
    RateLimit: '"second";r=1;t=1',
    "Set-Cookie": "no",
  };
  const whole: [string, Record<string, string>][] = [
    ["nonsense", {}],
    ["", {}],
    ["null", {}],
    ['{"emails":null}', {}],
    ['\ufeff{"emails":["a@b"]}', {}],
    ['{"emails":["\\ud800"]}', {}],
    ['{"emails":["a@b"]}', { "Content-Type": "text/plain" }],
    ['{"emails":["a@b"]}', { "Content-Encoding": "gzip" }],
    ['{"emails":["a@b"]}', { "Content-Type": "application/json, application/json" }],
  ];
  for (const [body, more] of whole) {
    const { worker, asked } = workerBefore(() => new Response(refused, { status: 400, headers }));
    const response = await worker.answer(batch(body, more));
    const sent = ["X-Usage-Current", "RateLimit", "Set-Cookie"].map((name) =>
      response.headers.get(name),
    );
    assert.deepEqual(
      [response.status, await response.text(), ...sent],
      [400, refused, "3", '"second";r=1;t=1', null],
      body,
    );
    assert.deepEqual(
      asked.map(({ method, url }) => [method, url]),
      [["POST", "http://origin.test/v1/emails"]],
      body,
    );
    assert.equal(asked[0]?.headers.get("Content-Type"), more["Content-Type"] ?? "application/json");
    assert.equal(asked[0].headers.get("X-API-Key"), KEY);
    assert.deepEqual(new Uint8Array(await asked[0].arrayBuffer()), new TextEncoder().encode(body));
  }
});

test("a long body is read as it is sent on, and no further than needed", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(32 << 10));
    },
  });
  let before = 0,
    received = 0;
  const { worker } = workerBefore(async (request) => {
    before = pulled;
    received = (await request.arrayBuffer()).byteLength;
    return new Response("{}", { status: 413, headers: { "Content-Type": "application/json" } });
  });
  assert.equal((await worker.answer({ ...batch(""), body: endless })).status, 413);
  assert.equal(received, (1 << 20) + 1);
  assert.ok(before < 8, `${before} pieces of 32 KiB before the origin was asked`);
  assert.ok(pulled < 40, `${pulled} pieces of 32 KiB`);
});

test("a body that breaks off is refused in the shape of a batch", async () => {
  for (const sent of [5, 100_000]) {
    const { worker, logged } = workerBefore(async (request) => {
      await request.arrayBuffer();
      return admitted([]);
    });
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(new Uint8Array(sent));
        else controller.error(new Error("gone"));
      },
    });
    const response = await worker.answer({ ...batch(""), body });
    assert.deepEqual(
      [response.status, await response.json()],
      [
        400,
        {
          success: false,
          error: {
            code: "INVALID_REQUEST",
            message: `The body broke off after ${sent} bytes; send as many as Content-Length announces, or end the last chunk.`,
          },
        },
      ],
    );
    assert.ok(
      logged.every((line) => !line.includes("defect")),
      `${logged}`,
    );
  }
});

test("pages go to the origin as they came", async () => {
  const { worker, asked } = workerBefore(
    () =>
      new Response("page", {
        status: 418,
        headers: { "Set-Cookie": "a=b", "Content-Encoding": "gzip", "Content-Length": "99" },
      }),
    { pages: "dashboard" },
  );
  const form = ask("/dashboard/keys?x=%2F", {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Edge-Secret": "guess",
      Host: "edge.example",
      Cookie: "c=d",
    },
    body: new Response("name=n").body,
  });
  const response = await worker.answer(form);
  assert.deepEqual(
    [
      response.status,
      await response.text(),
      response.headers.get("Set-Cookie"),
      response.headers.get("Content-Encoding"),
    ],
    [418, "page", "a=b", null],
  );
  const [request] = asked;
  assert.equal(request?.url, "http://origin.test/dashboard/keys?x=%2F");
  assert.equal(await request.text(), "name=n");
  assert.deepEqual(
    ["Cookie", "X-Edge-Secret", "X-Forwarded-Host", "X-Forwarded-Proto"].map((name) =>
      request.headers.get(name),
    ),
    ["c=d", null, "edge.example", "https"],
  );
});

test("what the table does not have is refused unasked", async () => {
  const { worker, asked } = workerBefore(() => new Response("page"));
  for (const [target, status] of [
    ["/metrics", 404],
    ["/readyz", 404],
    ["/v1/edge/admit", 404],
    ["/dashboard", 404],
    ["/x/../metrics", 404],
    ["/docs?a#b", 404],
    ["http://evil.example/healthz", 400],
    ["*", 400],
  ] as const) {
    const response = await worker.answer(ask(target));
    assert.equal(response.status, status, target);
    assert.equal(
      ((await response.json()) as { code: string }).code,
      status === 404 ? "NOT_FOUND" : "BAD_REQUEST",
    );
  }
  assert.equal(asked.length, 0);
});

test("usage is the origin's, for a key of the right form", async () => {
  const usage = '{"points":1}';
  const { worker, asked } = workerBefore(
    () =>
      new Response(usage, {
        headers: { "Content-Type": "application/json", "X-Usage-Limit": "5" },
      }),
  );
  for (const method of ["GET", "HEAD"]) {
    const response = await worker.answer(ask("/v1/usage?x=y", { method }));
    assert.deepEqual(
      [
        response.status,
        await response.text(),
        response.headers.get("X-Usage-Limit"),
        response.headers.get("Content-Length"),
      ],
      [200, method === "HEAD" ? "" : usage, "5", `${usage.length}`],
    );
  }
  assert.equal(
    (await worker.answer(ask("/v1/usage", { headers: { "X-API-Key": `${KEY}, ${KEY}` } }))).status,
    401,
  );
  assert.deepEqual(
    asked.map(({ method, url }) => `${method} ${url}`),
    Array(2).fill("GET http://origin.test/v1/usage"),
  );
});

test("HEAD is GET without the body", async () => {
  const { worker, asked } = workerBefore(() => admitted([true]));
  for (const target of [
    "/v1/email/jane@example.org",
    "/v1/email/none",
    "/v1/email/%zz",
    "/v1/nothing",
  ]) {
    const [get, head] = [
      await worker.answer(ask(target, { headers: { "X-Request-Id": "h" } })),
      await worker.answer(ask(target, { method: "HEAD", headers: { "X-Request-Id": "h" } })),
    ];
    assert.deepEqual(
      [head.status, [...head.headers], await head.text()],
      [get.status, [...get.headers], ""],
      target,
    );
    assert.equal(
      head.headers.get("Content-Length"),
      String((await get.arrayBuffer()).byteLength),
      target,
    );
  }
  assert.equal(asked.length, 6);
});

test("a preflight asks nobody", async () => {
  const { worker, asked } = workerBefore(() => admitted([true]));
  const response = await worker.answer(
    ask("/v1/emails", { method: "OPTIONS", headers: { "X-API-Key": "" } }),
  );
  assert.deepEqual(
    [response.status, await response.text(), response.headers.get("Access-Control-Allow-Methods")],
    [204, "", "POST, OPTIONS"],
  );
  assert.equal(asked.length, 0);
});

test("a broken percent sign is judged after the key", async () => {
  const { worker, asked } = workerBefore(() => admitted([]));
  assert.equal(
    (await worker.answer(ask("/v1/email/a%zz", { headers: { "X-API-Key": "" } }))).status,
    401,
  );
  const response = await worker.answer(ask("/v1/email/a%zz"));
  assert.deepEqual(
    [response.status, ((await response.json()) as { code: string }).code],
    [400, "INVALID_EMAIL_FORMAT"],
  );
  assert.deepEqual(await asked[0]?.json(), { operation: "single", points: 0, domains: [] });
});

test("limits of the account pass, also with a refusal", async () => {
  const limits = {
    "X-Usage-Current": "1",
    "X-Usage-Limit": "10",
    RateLimit: '"second";r=0;t=1',
    "RateLimit-Policy": '"second";q=1;w=1',
  };
  for (const [status, body] of [
    [200, '{"mx":[true],"partial":false}'],
    [429, '{"status":429,"title":"t","detail":"d"}'],
  ] as const) {
    const { worker } = workerBefore(
      () =>
        new Response(body, { status, headers: { "Content-Type": "application/json", ...limits } }),
    );
    for (const asked of [ask("/v1/email/a@example.org"), batch('{"emails":["a@example.org"]}')]) {
      const response = await worker.answer(asked);
      assert.equal(response.status, status);
      for (const [name, value] of Object.entries(limits))
        assert.equal(response.headers.get(name), value, name);
    }
  }
});

test("a status that no operation has is not for the caller", async () => {
  for (const status of [201, 302, 403, 404, 418]) {
    const { worker, logged } = workerBefore(
      () => new Response("{}", { status, headers: { "Content-Type": "application/json" } }),
    );
    assert.equal((await worker.answer(batch("nonsense"))).status, 503);
    assert.deepEqual(logged, [
      "origin: a request could not be passed on (no answer of the contract)",
    ]);
  }
});

test("a batch with an Idempotency-Key goes to the origin whole", async () => {
  const answer = '{"success":true}';
  const { worker, asked } = workerBefore(
    () =>
      new Response(answer, {
        headers: {
          "Content-Type": "application/json",
          "X-Usage-Current": "2",
          "Idempotency-Replayed": "true",
          "Set-Cookie": "no",
        },
      }),
  );
  const body = '{ "emails": ["a@example.org"] }';
  const response = await worker.answer(batch(body, { "Idempotency-Key": "one" }));
  assert.equal(await response.text(), answer);
  const headers = ["X-Usage-Current", "Idempotency-Replayed", "Set-Cookie"];
  assert.deepEqual(
    headers.map((name) => response.headers.get(name)),
    ["2", "true", null],
  );
  assert.equal(asked[0]?.url, "http://origin.test/v1/emails");
  assert.equal(await asked[0].text(), body);
});

test("what refuses a batch with an Idempotency-Key passes through", async () => {
  for (const status of [400, 402, 409, 413, 415, 422, 429]) {
    const refused = '{"success":false,"error":{"code":"C","message":"m"}}';
    const { worker } = workerBefore(
      () => new Response(refused, { status, headers: { "Content-Type": "application/json" } }),
    );
    const response = await worker.answer(batch('{"emails":["a@b"]}', { "Idempotency-Key": "one" }));
    assert.deepEqual(
      [response.status, await response.text(), response.headers.get("Retry-After")],
      [status, refused, null],
    );
  }
});

test("a batch on which the module fails goes to the origin whole", async () => {
  const broken = {
    check: () => {
      throw new Error("jane@example.org");
    },
  } as unknown as Engine;
  const { worker, asked, logged } = workerBefore(
    () => new Response("{}", { headers: { "Content-Type": "application/json" } }),
    {},
    broken,
  );
  assert.equal((await worker.answer(batch('{"emails":["jane@example.org"]}'))).status, 200);
  assert.equal(await asked[0]?.text(), '{"emails":["jane@example.org"]}');
  assert.deepEqual(logged, ["defect: Error"]);
});

test("failures are logged without address and key", async () => {
  const { worker, logged } = workerBefore(() => {
    throw new Error(`https://x/?${KEY} jane@example.org`);
  });
  assert.equal((await worker.answer(ask("/v1/email/jane@example.org"))).status, 503);
  assert.equal(
    (await worker.answer(batch('{"emails":["jane@example.org"]}', { "Idempotency-Key": "one" })))
      .status,
    503,
  );
  assert.equal((await worker.answer(ask("/docs?jane@example.org"))).status, 503);
  assert.equal(logged.length, 3);
  for (const line of logged) assert.doesNotMatch(line, /jane|ask_/);
});

test("a caller who is gone is no failure of the origin", async () => {
  const gone = new AbortController();
  const { worker, logged } = workerBefore(() => {
    gone.abort();
    return new Promise<Response>(() => undefined);
  });
  for (const asked of [ask("/v1/email/jane@example.org"), ask("/v1/usage"), ask("/docs")]) {
    assert.equal((await worker.answer({ ...asked, signal: gone.signal })).status, 503);
  }
  assert.deepEqual(logged, []);
});

test("an odd request id is replaced", async () => {
  const { worker } = workerBefore(() => admitted([true]));
  const id = async (given: string) =>
    (
      await worker.answer(ask("/v1/email/a@example.org", { headers: { "X-Request-Id": given } }))
    ).headers.get("X-Request-Id");
  assert.equal(await id("a-Z_0.9:x"), "a-Z_0.9:x");
  for (const odd of ["", "a b", "<x>", "x".repeat(129)])
    assert.match((await id(odd)) ?? "", /^[A-Z2-7]{26}$/);
});
