import assert from "node:assert/strict";
import { test } from "node:test";
import { admitted, engine, get, json, KEY, newWorker, postBatch } from "../test/testing.ts";
import { FULL_SUGGESTION } from "./instance.ts";

test("the worker sends the origin domains and counts only", async () => {
  const { worker, sent } = newWorker(() => admitted([true, null]));
  const emails = [
    "secret.name@example.org",
    "other.name@Example.ORG",
    "support@example.org",
    "x@b\u00fccher.example",
    "y@[192.0.2.1]",
    "no address",
    "secret.name@example.org",
  ];
  const request = postBatch(JSON.stringify({ emails }), {
    "X-Request-Id": "r1",
    Cookie: "c",
    Authorization: "Bearer other",
  });
  assert.equal((await worker.respond(request)).status, 200);
  const [admission] = sent;
  assert.equal(admission?.url, "http://origin.test/v1/edge/admit");
  assert.equal(admission.method, "POST");
  assert.deepEqual(await admission.clone().json(), {
    operation: "batch",
    points: 6,
    tally: { valid: 1, invalid: 1 },
    domains: [
      { name: "example.org", addresses: 3, tally: { valid: 3, role: 1 } },
      { name: "xn--bcher-kva.example", addresses: 1, tally: { valid: 1 } },
    ],
  });
  const body = await admission.text();
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
    headers.map((name) => admission.headers.get(name)),
    [KEY, null, "s", "r1", null],
  );
});

test("a single validation sends its tally with its domain, if it has one", async () => {
  const { worker, sent } = newWorker(async (request) =>
    admitted(((await request.json()) as { domains: unknown[] }).domains.map(() => true)),
  );
  for (const address of ["jane@gmial.com", "jane@%5B192.0.2.1%5D"]) {
    assert.equal((await worker.respond(get(`/v1/email/${address}`))).status, 200, address);
  }
  assert.deepEqual(await Promise.all(sent.map((request) => request.json())), [
    {
      operation: "single",
      points: 1,
      domains: [{ name: "gmial.com", addresses: 1, classed: true, tally: { valid: 1, typo: 1 } }],
      brief: true,
    },
    { operation: "single", points: 1, tally: { valid: 1 }, domains: [] },
  ]);
});

/** Returns the origin's 204 to an admission. */
function brief(mx: string | null, usage: Record<string, string> = { "X-Usage-Limit": "9" }) {
  const headers = { "X-Usage-Current": "1", ...usage, ...(mx === null ? {} : { "X-Edge-MX": mx }) };
  return new Response(null, { status: 204, headers });
}

test("a brief reply gives the same response as one with a body", async () => {
  for (const mx of [true, false]) {
    const replies = [brief(String(mx)), admitted([mx])].map(async (reply) => {
      const { worker } = newWorker(() => reply);
      const response = await worker.respond(get("/v1/email/jane@example.org"));
      return [response.status, response.headers.get("X-Usage-Current"), await response.text()];
    });
    const [one, other] = await Promise.all(replies);
    assert.deepEqual(one, other);
    assert.equal(one?.[0], 200);
    assert.match(String(one?.[2]), new RegExp(`"mx":${mx},`));
  }
});

const EXCHANGE = {
  class: "temporary",
  provider: "Burner",
  entry: "b.test",
  host: "mx.b.test",
  address_record: null,
};

test("the origin's lookup decides disposable and exchange", async () => {
  for (const [query, more, disposable, exchange] of [
    ["", {}, false, undefined],
    ["", { disposable: [true] }, true, undefined],
    ["?details=true", { exchange: [null] }, false, null],
    ["?details=true", { exchange: [EXCHANGE] }, false, EXCHANGE],
    ["?details=true", { disposable: [true], exchange: [EXCHANGE] }, true, EXCHANGE],
  ] as const) {
    const { worker, sent } = newWorker(() => admitted([true], more));
    const response = await worker.respond(get(`/v1/email/jane@burner.example${query}`));
    const result = JSON.parse(await response.text()) as {
      mx: unknown;
      disposable: unknown;
      details?: { exchange: unknown };
    };
    assert.deepEqual(
      [result.mx, result.disposable, result.details?.exchange],
      [true, disposable, exchange],
    );
    assert.deepEqual(Object.keys(result).length, query === "" ? 16 : 17);
    const asked = (await sent[0]?.json()) as Record<string, unknown> | undefined;
    assert.deepEqual(
      [asked?.details, asked?.brief],
      query === "" ? [undefined, true] : [true, undefined],
    );
  }
});

test("a batch has the lookup of each domain", async () => {
  const { worker, sent } = newWorker(() =>
    admitted([true, false, "DNS_TIMEOUT", null], {
      disposable: [true, false, false, false],
      exchange: [EXCHANGE, EXCHANGE, null, null],
    }),
  );
  const emails = [
    "a@one.example",
    "b@two.example",
    "c@three.example",
    "d@gmail.com",
    "e@one.example",
  ];
  const response = await worker.respond(postBatch(JSON.stringify({ emails, details: true })));
  const { results } = JSON.parse(await response.text()) as {
    results: {
      result: { mx: unknown; disposable: unknown; details: { exchange: unknown } } | null;
    }[];
  };
  assert.deepEqual(
    results.map(({ result: r }) => r && [r.mx, r.disposable, r.details.exchange]),
    [[true, true, EXCHANGE], [false, false, EXCHANGE], null, [true, true, EXCHANGE]],
  );
  const asked = (await sent[0]?.json()) as { domains: { classed?: true }[] } | undefined;
  assert.deepEqual(
    asked?.domains.map(({ classed }) => classed),
    [undefined, undefined, undefined, true],
  );
});

test("a malformed lookup is 503", async () => {
  for (const more of [
    { disposable: [] },
    { disposable: ["true"] },
    { disposable: true },
    { exchange: [] },
    { exchange: ["x"] },
    { exchange: [[]] },
    { exchange: {} },
  ]) {
    const { worker } = newWorker(() => admitted([true], more));
    const response = await worker.respond(get("/v1/email/jane@burner.example?details=true"));
    assert.equal(response.status, 503, JSON.stringify(more));
  }
});

test("a 204 that is no brief reply is 503", async () => {
  const single = get("/v1/email/jane@example.org");
  const literal = get("/v1/email/jane@%5B192.0.2.1%5D");
  for (const [request, reply] of [
    [single, brief(null)],
    [single, brief("")],
    [single, brief("yes")],
    [single, brief("true, true")],
    [single, brief("true", {})],
    [literal, brief("true")],
    [postBatch('{"emails":["jane@example.org"]}'), brief("true")],
    [get("/v1/email/jane@example.org?details=true"), brief("true")],
  ] as const) {
    const { worker, logged } = newWorker(() => reply);
    assert.equal((await worker.respond(request)).status, 503);
    assert.deepEqual(logged, ["origin: unexpected response, status 204"]);
  }
});

test("a setting decides whether a suggestion is the domain or the whole address", async () => {
  for (const [flags, want] of [
    [0, "gmail.com"],
    [FULL_SUGGESTION, "Jane+x@gmail.com"],
  ] as const) {
    const { worker } = newWorker(() => admitted([true]), { flags });
    const response = await worker.respond(get("/v1/email/Jane+x@gmial.com"));
    const { typo_suggestion } = (await response.json()) as { typo_suggestion: string };
    assert.equal(typo_suggestion, want);
  }
});

test("a partial batch omits unfinished addresses", async () => {
  const { worker } = newWorker(() => admitted([null, "DNS_TIMEOUT"]));
  const response = await worker.respond(
    postBatch('{"emails":["a@one.example","b@two.example","c"]}'),
  );
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

test("a malformed key is refused without a round trip", async () => {
  const { worker, sent } = newWorker(() => admitted([true]));
  assert.equal(
    (await worker.respond(get("/v1/email/a@b", { headers: { "X-API-Key": "ask_" } }))).status,
    401,
  );
  assert.equal(sent.length, 0);
});

test("bad input has a response after the key and the rate", async () => {
  const problem = '{"status":429,"title":"Too Many Requests","detail":"wait"}';
  const { worker, sent } = newWorker(() => json(429, problem, { "Retry-After": "7" }));
  const response = await worker.respond(get("/v1/email/none"));
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("Retry-After"), "7");
  assert.equal(await response.text(), problem);
  assert.deepEqual(await sent[0]?.json(), { operation: "single", points: 0, domains: [] });
});

test("other paths are refused without a round trip", async () => {
  const { worker, sent } = newWorker(() => new Response("page"));
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
    const response = await worker.respond(get(target));
    assert.equal(response.status, status, target);
    assert.equal(
      ((await response.json()) as { code: string }).code,
      status === 404 ? "NOT_FOUND" : "INVALID_REQUEST",
    );
  }
  assert.equal(sent.length, 0);
});

test("HEAD is GET without the body", async () => {
  const { worker, sent } = newWorker(() => admitted([true]));
  for (const target of [
    "/v1/email/jane@example.org",
    "/v1/email/none",
    "/v1/email/%zz",
    "/v1/nothing",
  ]) {
    const [whole, head] = [
      await worker.respond(get(target, { headers: { "X-Request-Id": "h" } })),
      await worker.respond(get(target, { method: "HEAD", headers: { "X-Request-Id": "h" } })),
    ];
    assert.deepEqual(
      [head.status, [...head.headers], await head.text()],
      [whole.status, [...whole.headers], ""],
      target,
    );
    assert.equal(
      head.headers.get("Content-Length"),
      String((await whole.arrayBuffer()).byteLength),
      target,
    );
  }
  assert.equal(sent.length, 6);
});

test("a 401 has the origin's challenge, or that for keys", async () => {
  const problem = '{"status":401,"error":"e","code":"INVALID_SIGNATURE"}';
  const { worker } = newWorker(() => json(401, problem, { "WWW-Authenticate": "Other" }));
  const challenge = async (request: Parameters<typeof worker.respond>[0]) =>
    (await worker.respond(request)).headers.get("WWW-Authenticate");
  const noKey = { headers: { "X-API-Key": "" } };
  assert.equal(await challenge(get("/v1/email/a@example.org", noKey)), 'Bearer realm="addrspec"');
  assert.equal(await challenge(get("/v1/usage")), "Other");
  assert.equal(await challenge({ ...postBatch("{}"), target: "/v1/hooks/signup" }), "Other");
});

test("limit headers are passed on, also with a problem", async () => {
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
    const { worker } = newWorker(() => json(status, body, limits));
    for (const request of [
      get("/v1/email/a@example.org"),
      postBatch('{"emails":["a@example.org"]}'),
    ]) {
      const response = await worker.respond(request);
      assert.equal(response.status, status);
      for (const [name, value] of Object.entries(limits)) {
        assert.equal(response.headers.get(name), value, name);
      }
    }
  }
});

test("Origin is passed on, and the response allows what the origin allows", async () => {
  const allowed = { "Access-Control-Allow-Origin": "https://shop.example", Vary: "Origin" };
  for (const [status, body] of [
    [200, '{"mx":[true],"partial":false}'],
    [401, '{"status":401,"error":"e","code":"INVALID_API_KEY"}'],
  ] as const) {
    const usage = { "X-Usage-Current": "1", "X-Usage-Limit": "10" };
    const { worker, sent } = newWorker(() => json(status, body, { ...usage, ...allowed }));
    const headers = { Origin: "https://shop.example" };
    for (const request of [
      get("/v1/email/a@example.org", { headers }),
      get("/v1/usage", { headers }),
      postBatch('{"emails":["a@example.org"]}', headers),
      postBatch('{"emails":["a@example.org"]}', { ...headers, "Idempotency-Key": "one" }),
    ]) {
      const response = await worker.respond(request);
      assert.equal(response.status, status);
      for (const [name, value] of Object.entries(allowed)) {
        assert.equal(response.headers.get(name), value, name);
      }
      assert.equal(sent.at(-1)?.headers.get("Origin"), "https://shop.example");
    }
    await worker.respond(get("/v1/email/a@example.org"));
    assert.equal(sent.at(-1)?.headers.has("Origin"), false);
  }
});

test("failures are logged without an address and a key", async () => {
  const { worker, logged } = newWorker(() => {
    throw new Error(`https://x/?${KEY} jane@example.org`);
  });
  assert.equal((await worker.respond(get("/v1/email/jane@example.org"))).status, 503);
  assert.equal(
    (
      await worker.respond(
        postBatch('{"emails":["jane@example.org"]}', { "Idempotency-Key": "one" }),
      )
    ).status,
    503,
  );
  assert.equal((await worker.respond(get("/openapi.json?jane@example.org"))).status, 503);
  assert.equal(logged.length, 3);
  for (const line of logged) assert.doesNotMatch(line, /jane|ask_/);
});

test("a client that disconnects is not logged", async () => {
  const client = new AbortController();
  const { worker, logged } = newWorker(() => {
    client.abort();
    return new Promise<Response>(() => undefined);
  });
  for (const request of [
    get("/v1/email/jane@example.org"),
    get("/v1/usage"),
    get("/openapi.json"),
  ]) {
    assert.equal((await worker.respond({ ...request, signal: client.signal })).status, 503);
  }
  assert.deepEqual(logged, []);
});

test("an unsafe request id is replaced", async () => {
  const { worker } = newWorker(() => admitted([true]));
  const id = async (given: string) => {
    const request = get("/v1/email/a@example.org", { headers: { "X-Request-Id": given } });
    return (await worker.respond(request)).headers.get("X-Request-Id");
  };
  assert.equal(await id("a-Z_0.9:x"), "a-Z_0.9:x");
  for (const unsafe of ["", "a b", "<x>", "x".repeat(129)]) {
    assert.match((await id(unsafe)) ?? "", /^[A-Z2-7]{26}$/);
  }
});

test("/versions has the versions of the module, and asks nobody", async () => {
  const { worker, sent } = newWorker(() => assert.fail("the origin was asked"));
  const response = await worker.respond(get("/versions"));
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), engine.versions());
  assert.equal(sent.length, 0);
});
