import assert from "node:assert/strict";
import { test } from "node:test";
import { admitted, get, json, KEY, newWorker, postBatch } from "../test/testing.ts";
import type { Engine } from "./engine.ts";
import { checksum } from "./key.ts";
import type { RawRequest } from "./origin.ts";

test("a batch that the worker does not parse is forwarded unchanged", async () => {
  const problem = '{"success":false,"error":{"code":"INVALID_REQUEST","message":"m"}}';
  const headers = {
    "X-Usage-Current": "3",
    RateLimit: '"second";r=1;t=1',
    "Set-Cookie": "no",
  };
  const batches: [string, Record<string, string>][] = [
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
  for (const [body, more] of batches) {
    const { worker, sent } = newWorker(() => json(400, problem, headers));
    const response = await worker.respond(postBatch(body, more));
    const passed = ["X-Usage-Current", "RateLimit", "Set-Cookie"].map((name) =>
      response.headers.get(name),
    );
    assert.deepEqual(
      [response.status, await response.text(), ...passed],
      [400, problem, "3", '"second";r=1;t=1', null],
      body,
    );
    assert.deepEqual(
      sent.map(({ method, url }) => [method, url]),
      [["POST", "http://origin.test/v1/emails"]],
      body,
    );
    assert.equal(sent[0]?.headers.get("Content-Type"), more["Content-Type"] ?? "application/json");
    assert.equal(sent[0].headers.get("X-API-Key"), KEY);
    assert.deepEqual(new Uint8Array(await sent[0].arrayBuffer()), new TextEncoder().encode(body));
  }
});

test("a long body is read on demand, and no further than needed", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(32 << 10));
    },
  });
  let before = 0;
  let received = 0;
  const { worker } = newWorker(async (request) => {
    before = pulled;
    received = (await request.arrayBuffer()).byteLength;
    return json(413, "{}");
  });
  assert.equal((await worker.respond({ ...postBatch(""), body: endless })).status, 413);
  assert.equal(received, (1 << 20) + 1);
  assert.ok(before < 8, `${before} chunks of 32 KiB before the origin got the request`);
  assert.ok(pulled < 40, `${pulled} chunks of 32 KiB`);
});

test("an aborted body is refused in shape B", async () => {
  for (const size of [5, 100_000]) {
    const { worker, logged } = newWorker(async (request) => {
      await request.arrayBuffer();
      return admitted([]);
    });
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(new Uint8Array(size));
        else controller.error(new Error("aborted"));
      },
    });
    const response = await worker.respond({ ...postBatch(""), body });
    assert.deepEqual(
      [response.status, await response.json()],
      [
        400,
        {
          success: false,
          error: {
            code: "INVALID_REQUEST",
            message:
              `The body broke off after ${size} bytes; `
              + "send as many as Content-Length announces, or end the last chunk.",
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

// workerd may end the body that it was reading when the origin closes the connection
// after its response.
test("a response that did not need the body counts, though the body ends early", async () => {
  let abort: ((error: Error) => void) | undefined;
  const { worker } = newWorker(() => {
    abort?.(new Error("disconnected"));
    return json(401, '{"success":false}');
  });
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(100_000));
      abort = (error) => controller.error(error);
    },
  });
  assert.equal((await worker.respond({ ...postBatch(""), body })).status, 401);
});

test("a request for a page is forwarded unchanged", async () => {
  const { worker, sent } = newWorker(
    () =>
      new Response("page", {
        status: 418,
        headers: { "Set-Cookie": "a=b", "Content-Encoding": "gzip", "Content-Length": "99" },
      }),
    { pages: "dashboard" },
  );
  const form = get("/dashboard/keys?x=%2F", {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Edge-Secret": "guess",
      Host: "edge.example",
      Cookie: "c=d",
    },
    body: new Response("name=n").body,
  });
  const response = await worker.respond(form);
  assert.deepEqual(
    [
      response.status,
      await response.text(),
      response.headers.get("Set-Cookie"),
      response.headers.get("Content-Encoding"),
    ],
    [418, "page", "a=b", null],
  );
  const [request] = sent;
  assert.equal(request?.url, "http://origin.test/dashboard/keys?x=%2F");
  assert.equal(await request.text(), "name=n");
  assert.deepEqual(
    ["Cookie", "X-Edge-Secret", "X-Forwarded-Host", "X-Forwarded-Proto"].map((name) =>
      request.headers.get(name),
    ),
    ["c=d", null, "edge.example", "https"],
  );
});

test("usage is forwarded for a well-formed key", async () => {
  const usage = '{"points":1}';
  const { worker, sent } = newWorker(() => json(200, usage, { "X-Usage-Limit": "5" }));
  for (const method of ["GET", "HEAD"]) {
    const response = await worker.respond(get("/v1/usage?x=y", { method }));
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
    (await worker.respond(get("/v1/usage", { headers: { "X-API-Key": `${KEY}, ${KEY}` } }))).status,
    401,
  );
  assert.deepEqual(
    sent.map(({ method, url }) => `${method} ${url}`),
    Array(2).fill("GET http://origin.test/v1/usage"),
  );
});

test("an unexpected status is not passed to the client", async () => {
  for (const status of [201, 302, 403, 404, 418]) {
    const { worker, logged } = newWorker(() => json(status, "{}"));
    assert.equal((await worker.respond(postBatch("nonsense"))).status, 503);
    assert.deepEqual(logged, [`origin: unexpected response, status ${status}`]);
  }
});

test("a batch with an Idempotency-Key is forwarded unchanged", async () => {
  const success = '{"success":true}';
  const passed = { "X-Usage-Current": "2", "Idempotency-Replayed": "true" };
  const { worker, sent } = newWorker(() => json(200, success, { ...passed, "Set-Cookie": "no" }));
  const body = '{ "emails": ["a@example.org"] }';
  const response = await worker.respond(postBatch(body, { "Idempotency-Key": "one" }));
  assert.equal(await response.text(), success);
  const headers = ["X-Usage-Current", "Idempotency-Replayed", "Set-Cookie"];
  assert.deepEqual(
    headers.map((name) => response.headers.get(name)),
    ["2", "true", null],
  );
  assert.equal(sent[0]?.url, "http://origin.test/v1/emails");
  assert.equal(await sent[0].text(), body);
});

test("problems with an Idempotency-Key are passed to the client", async () => {
  for (const status of [400, 402, 409, 413, 415, 422, 429]) {
    const problem = '{"success":false,"error":{"code":"C","message":"m"}}';
    const { worker } = newWorker(() => json(status, problem));
    const response = await worker.respond(
      postBatch('{"emails":["a@b"]}', { "Idempotency-Key": "one" }),
    );
    assert.deepEqual(
      [response.status, await response.text(), response.headers.get("Retry-After")],
      [status, problem, null],
    );
  }
});

test("a batch on which the module fails is forwarded unchanged", async () => {
  const broken = {
    check: () => {
      throw new Error("jane@example.org");
    },
  } as unknown as Engine;
  const { worker, sent, logged } = newWorker(() => json(200, "{}"), { engine: broken });
  assert.equal((await worker.respond(postBatch('{"emails":["jane@example.org"]}'))).status, 200);
  assert.equal(await sent[0]?.text(), '{"emails":["jane@example.org"]}');
  assert.deepEqual(logged, ["defect: Error"]);
});

const FORWARD = { "X-Edge-MX": "forward" };

/** Returns a worker with an origin that wants requests whole, and what the origin was asked. */
function forwardingWorker() {
  const { worker, sent } = newWorker(({ url }) =>
    url.endsWith("/admit")
      ? new Response(null, { status: 204, headers: FORWARD })
      : json(200, '{"verdict":1}', { "X-Usage-Current": "1" }),
  );
  return { worker, asked: () => sent.splice(0) };
}

const pathOf = ({ url }: Request) => url.slice("http://origin.test".length);

test("a request that names a policy is forwarded whole at once", async () => {
  const { worker, asked } = forwardingWorker();
  const origin = { Origin: "https://p.example" };
  const response = await worker.respond(
    get("/v1/email/a%2Fb%2Fc'+x@mail.example?details=true&x=y&policy=p", { headers: origin }),
  );
  assert.deepEqual(
    [response.status, await response.text(), response.headers.get("X-Usage-Current")],
    [200, '{"verdict":1}', "1"],
  );
  const body = '{"emails":["a@mail.example"],"policy":"p"}';
  await worker.respond(postBatch(body, origin));
  const [single, batch, ...more] = asked();
  assert.ok(single && batch && more.length === 0);
  assert.equal(pathOf(single), "/v1/email/a%2Fb%2Fc%27+x@mail.example?details=true&policy=p");
  assert.equal(pathOf(batch), "/v1/emails");
  assert.equal(await batch.text(), body);
  for (const { headers } of [single, batch]) {
    assert.deepEqual(
      ["X-API-Key", "Origin", "X-Edge-Secret"].map((name) => headers.get(name)),
      [KEY, "https://p.example", null],
    );
  }
});

/** Returns a key with a checksum of its own. */
function keyOf(n: number): string {
  const start = `ask_${String(n).padStart(32, "0")}`;
  return start + checksum(start);
}

test("a key whose requests the origin wants whole is remembered for a minute", async (t) => {
  const { now } = Date;
  t.after(() => {
    Date.now = now;
  });
  let time = now();
  Date.now = () => time;
  const { worker, asked } = forwardingWorker();
  const send = async (request: RawRequest) => {
    assert.equal((await worker.respond(request)).status, 200);
    return asked().map(pathOf);
  };
  const admit = "/v1/edge/admit";
  const path = "/v1/email/a@b.example";
  const batch = '{"emails":["bad"]}';
  const other = { headers: { "X-API-Key": keyOf(1) } };

  assert.deepEqual(await send(get("/v1/email/bad")), [admit, "/v1/email/bad"]);
  assert.deepEqual(await send(get("/v1/email/bad")), ["/v1/email/bad"]);
  assert.deepEqual(await send(get("/v1/email/")), ["/v1/email/"]);
  assert.deepEqual(await send(postBatch(batch)), ["/v1/emails"]);
  assert.deepEqual(await send(get(path, other)), [admit, path]);
  time += 59_999;
  assert.deepEqual(await send(get(path)), [path]);
  time += 1;
  assert.deepEqual(await send(postBatch(batch)), [admit, "/v1/emails"]);
  assert.deepEqual(await send(get(path)), [path]);

  for (let n = 2; n < 1025; n++) await send(get(path, { headers: { "X-API-Key": keyOf(n) } }));
  assert.deepEqual(await send(get(path)), [path], "1,024 keys are remembered");
  await send(get(path, { headers: { "X-API-Key": keyOf(1025) } }));
  assert.deepEqual(await send(get(path)), [admit, path], "and the oldest is forgotten");
});

test("a single validation is forwarded in a form that fetch keeps", async () => {
  for (const [target, forwarded] of [
    ["/v1/email/a@b.example?policy=p", "/v1/email/a@b.example?policy=p"],
    [
      "/v1/email/%2E%2e%2fa@b.example?x=1&policy=p&details=true",
      "/v1/email/..%2Fa@b.example?details=true&policy=p",
    ],
    ["/v1/email/j\u00e4ne@b.example?x&policy=p", "/v1/email/j%C3%A4ne@b.example?policy=p"],
    ["/v1/email/%ff?policy=p&x#q", "/v1/email/%FF?policy=p"],
    ["/v1/email/..?policy=p", "/v1/email/...?policy=p"],
    ["/v1/email/%2e?policy=p", "/v1/email/...?policy=p"],
    ["/v1/email/?policy=p", "/v1/email/?policy=p"],
    ["/v1/email/a@b.example?policy", "/v1/email/a@b.example?policy"],
    ["/v1/email/a@b.example?policy=p#q", "/v1/email/a@b.example?policy=p%23q"],
    ["/v1/email/a@b.example?policy=p&details=1", "/v1/email/a@b.example?details=1&policy=p"],
    ["/v1/email/a@b.example?policy=p&Policy=p", "/v1/email/a@b.example?policy=p"],
  ] as const) {
    const { worker, asked } = forwardingWorker();
    await worker.respond(get(target));
    assert.deepEqual(
      asked().map((request) => [request.method, pathOf(request)]),
      [["GET", forwarded]],
      target,
    );
  }
});

test("a malformed percent sign is the worker's 400 once the key is checked", async () => {
  const { worker, asked } = forwardingWorker();
  const noKey = get("/v1/email/a%zz", { headers: { "X-API-Key": "" } });
  assert.equal((await worker.respond(noKey)).status, 401);
  for (const query of ["", "", "?policy=p"]) {
    const response = await worker.respond(get(`/v1/email/a%${query}`));
    assert.equal(response.status, 400);
    assert.match(await response.text(), /"error":".*%25.*"code":"INVALID_EMAIL_FORMAT"/);
    assert.deepEqual(asked().map(pathOf), ["/v1/edge/admit"]);
  }
});
