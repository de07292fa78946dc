import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Engine } from "./engine.ts";
import { checksum } from "./key.ts";
import { Policies, type Policy } from "./policies.ts";
import { admitted, compileModule, get, KEY, newWorker, postBatch } from "./testing.ts";
import type { RawRequest } from "./worker.ts";

const OTHER_START = `ask_${"1".repeat(32)}`;
const OTHER_KEY = OTHER_START + checksum(OTHER_START);

function policyOf(document: string): Policy {
  return { document, digest: createHash("sha256").update(document).digest("hex") };
}

const hard = policyOf('{"block":{"reasons":["role"]}}');
const soft = policyOf('{"allow":{"domains":["*.example"]}}');

/** What an origin does with the X-Edge-Policy of a request, given the policy that is in force. */
function reply(request: Request, inForce: Policy | undefined, mx: unknown[], more: object = {}) {
  const [, digest] = (request.headers.get("X-Edge-Policy") ?? "").split(" ");
  if (inForce !== undefined && digest !== inForce.digest) return sent(inForce);
  const response = admitted(mx, more);
  if (inForce !== undefined) response.headers.set("X-Edge-Policy", inForce.digest);
  return response;
}

function sent({ document, digest }: Policy): Response {
  return new Response(document, {
    headers: {
      "Content-Type": "application/json",
      "X-Edge-MX": "policy",
      "X-Edge-Policy": digest,
    },
  });
}

/** Returns the verdict at the end of a single response, or its status. */
async function verdictIn(response: Response): Promise<unknown> {
  const body = (await response.json()) as { verdict?: { action: string; rule: unknown } };
  if (response.status !== 200) return response.status;
  return body.verdict && [body.verdict.action, body.verdict.rule];
}

const BLOCKED = ["block", "block.reasons[0]"];
const ALLOWED = ["allow", "allow.domains[0]"];

test("a policy is fetched once, and confirmed with each request", async () => {
  const { worker, sent: asked } = newWorker((request) => reply(request, hard, [true]));
  for (let n = 0; n < 3; n++) {
    assert.deepEqual(
      await verdictIn(await worker.respond(get("/v1/email/info@a.example?policy=hard"))),
      BLOCKED,
    );
  }
  await worker.respond(get("/v1/email/info@a.example")); // the default is another place
  await worker.respond(
    get("/v1/email/info@a.example?policy=hard", { headers: { "X-API-Key": OTHER_KEY } }),
  );
  const known = `hard ${hard.digest}`;
  assert.deepEqual(
    asked.map(({ url, headers }) => [url, headers.get("X-Edge-Policy")]),
    ["hard", known, known, known, "*", `* ${hard.digest}`, "hard", known].map((header) => [
      "http://origin.test/v1/edge/admit",
      header,
    ]),
  );
});

test("a policy that was changed, deleted or given to another key decides at once", async () => {
  let inForce: Policy | undefined = hard;
  const { worker } = newWorker((request) => reply(request, inForce, [true]));
  const verdict = async (key = KEY) =>
    verdictIn(
      await worker.respond(get("/v1/email/info@a.example", { headers: { "X-API-Key": key } })),
    );
  for (const [policy, want] of [
    [hard, BLOCKED],
    [soft, ALLOWED],
    [hard, BLOCKED],
    [undefined, undefined],
    [soft, ALLOWED],
  ] as const) {
    inForce = policy;
    assert.deepEqual(await verdict(), want);
    assert.deepEqual(await verdict(OTHER_KEY), want);
  }
});

test("concurrent requests with policies that disagree never get each other's verdict", async () => {
  const { worker } = newWorker(async (request) => {
    await new Promise((resolve) => setImmediate(resolve));
    const isHard = request.headers.get("X-API-Key") === KEY;
    return reply(request, isHard ? hard : soft, [true]);
  });
  const all = Array.from({ length: 60 }, async (_, n) => {
    const key = n % 2 === 0 ? KEY : OTHER_KEY;
    const request = get("/v1/email/info@a.example?policy=p", { headers: { "X-API-Key": key } });
    assert.deepEqual(
      await verdictIn(await worker.respond(request)),
      n % 2 === 0 ? BLOCKED : ALLOWED,
    );
  });
  await Promise.all(all);
});

test("no result is sent without the verdict that the request needs, nor by an unconfirmed policy", async () => {
  const unconfirmed: [string, (request: Request) => Response][] = [
    ["?policy=hard", () => admitted([true])], // an origin that knows no policies
    ["", confirmed(hard.digest)], // the worker has no policy, the origin confirms one
    ["?policy=hard", confirmed("")],
    ["?policy=hard", confirmed(soft.digest)],
    ["?policy=hard", confirmed("none")],
  ];
  for (const [query, respond] of unconfirmed) {
    const { worker } = newWorker((request) =>
      query === "" || request.headers.get("X-Edge-Policy")?.includes(" ") === true
        ? respond(request)
        : sent(hard),
    );
    const response = await worker.respond(get(`/v1/email/info@a.example${query}`));
    assert.equal(response.status, 503, query);
  }
});

function confirmed(digest: string): () => Response {
  return () => {
    const response = admitted([true]);
    response.headers.set("X-Edge-Policy", digest);
    return response;
  };
}

test("a document that the worker cannot use has the request forwarded, before a charge", async () => {
  for (const [document, log] of [
    ['{"block":{"reasons":["of a later release"]}}', /^a policy is of another release/],
    ["", /^a policy is of another release/],
    ["\ufeff{}", /^a policy is of another release/],
    [" ".repeat((512 << 10) + 1), /^a policy is of another release/],
  ] as const) {
    const {
      worker,
      sent: asked,
      logged,
    } = newWorker(({ url }) =>
      url.endsWith("/admit")
        ? sent(policyOf(document))
        : new Response("{}", { headers: { "Content-Type": "application/json" } }),
    );
    assert.equal((await worker.respond(get("/v1/email/a@a.example?policy=p"))).status, 200);
    assert.deepEqual(
      asked.map(({ url }) => url),
      ["http://origin.test/v1/edge/admit", "http://origin.test/v1/email/a@a.example?policy=p"],
    );
    assert.equal(logged.length, 1);
    assert.match(String(logged[0]), log);
  }
});

test("a policy that is changed all the time has the request forwarded", async () => {
  let version = 0;
  const { worker, sent: asked } = newWorker(({ url }) =>
    url.endsWith("/admit")
      ? sent(policyOf(`{"block":{"domains":["d${version++}.example"]}}`))
      : new Response("{}", { headers: { "Content-Type": "application/json" } }),
  );
  assert.equal((await worker.respond(postBatch('{"emails":["a@a.example"]}'))).status, 200);
  assert.deepEqual(
    asked.map(({ url }) => url.slice("http://origin.test".length)),
    ["/v1/edge/admit", "/v1/edge/admit", "/v1/emails"],
  );
});

test("every request with a test key is forwarded, whatever it costs and whether it has a policy", async () => {
  const { worker, sent: asked } = newWorker(({ url }) =>
    url.endsWith("/admit")
      ? new Response(null, { status: 204, headers: { "X-Edge-MX": "forward" } })
      : new Response("{}", { headers: { "Content-Type": "application/json" } }),
  );
  const forwarded = async (request: RawRequest) => {
    asked.length = 0;
    const { status } = await worker.respond(request);
    const [admit, whole, ...more] = asked.map(({ url }) => url.slice("http://origin.test".length));
    assert.deepEqual([status, admit, more], [200, "/v1/edge/admit", []]);
    return whole;
  };
  for (const path of [
    "relay@addrspec.test",
    "a..b@addrspec.test",
    "",
    "relay@addrspec.test?policy=p",
  ])
    assert.equal(await forwarded(get(`/v1/email/${path}`)), `/v1/email/${path}`);
  assert.equal(await forwarded(postBatch('{"emails":["relay@addrspec.test"]}')), "/v1/emails");
  assert.equal(await forwarded(postBatch('{"emails":["a..b@addrspec.test"]}')), "/v1/emails");

  const broken = await worker.respond(get("/v1/email/100%@addrspec.test"));
  assert.equal(broken.status, 400, "the origin's HTTP server refuses it");
  assert.match(await broken.text(), /%25/);
});

test("an unknown policy is the origin's 400, another 400 is the worker's mistake", async () => {
  const problem = '{"status":400,"error":"The account has no policy p.","code":"INVALID_REQUEST"}';
  for (const [policy, body, status] of [
    ["none", problem, 400],
    ["none", '{"success":false,"error":{"code":"INVALID_REQUEST","message":"m"}}', 400],
    ["none", '{"status":400,"code":"OTHER"}', 503],
    [undefined, problem, 503],
    [hard.digest, problem, 503],
  ] as const) {
    const headers = {
      "Content-Type": "application/json",
      "X-Usage-Current": "3",
      ...(policy === undefined ? {} : { "X-Edge-Policy": policy }),
    };
    for (const target of ["/v1/email/a@a.example?policy=p", "/v1/email/not-valid?policy=p"]) {
      const { worker, sent: asked } = newWorker(() => new Response(body, { status, headers }));
      const response = await worker.respond(get(target));
      assert.equal(response.status, status);
      assert.equal(asked[0]?.headers.get("X-Edge-Policy"), "p");
      if (status === 400) assert.equal(await response.text(), body);
    }
  }
});

test("a verdict has what the origin looked up", async () => {
  const policy = policyOf(
    '{"block":{"reasons":["no_mail","disposable"]},"review":{"reasons":["no_mx"]}}',
  );
  const worker = (mx: unknown[], more: object) =>
    newWorker((request) => reply(request, policy, mx, more)).worker;
  for (const [email, mx, more, want] of [
    ["a@a.example", [true], {}, ["allow", null]],
    ["a@a.example", [false], {}, ["block", "block.reasons[0]"]],
    ["a@a.example", [false], { address: [false] }, ["block", "block.reasons[0]"]],
    ["a@a.example", [false], { address: [true] }, ["review", "review.reasons[0]"]],
    ["a@a.example", [false], { address: [null] }, ["review", "review.reasons[0]"]],
    ["a@a.example", [true], { address: [null] }, ["allow", null]],
    ["a@a.example", [true], { disposable: [true] }, ["block", "block.reasons[1]"]],
    ["a@%5B192.0.2.1%5D", [], {}, ["review", "review.reasons[0]"]],
  ] as const) {
    for (const query of ["?policy=p", "?policy=p&details=true"]) {
      const response = await worker([...mx], more).respond(get(`/v1/email/${email}${query}`));
      assert.deepEqual(await verdictIn(response), want, `${email} ${JSON.stringify(more)}`);
    }
  }
  const batch = postBatch(
    '{"policy":"p","emails":["a@one.example","b@two.example","c@three.example","d@four.example","bad","a@[192.0.2.1]"]}',
  );
  const { results } = (await (
    await worker([false, "DNS_TIMEOUT", null, true], {
      address: [true, false, false, false],
    }).respond(batch)
  ).json()) as { results: { result: { verdict?: { rule: unknown; reason: unknown } } | null }[] };
  assert.deepEqual(
    results.map(({ result }) => result && [result.verdict?.reason, result.verdict?.rule]),
    [
      ["no_mx", "review.reasons[0]"],
      null,
      [null, null],
      ["invalid", null],
      ["no_mx", "review.reasons[0]"],
    ],
  );
});

test("a malformed list of addresses is 503", async () => {
  for (const address of [[], ["true"], [true, true], true, null]) {
    const { worker } = newWorker((request) => reply(request, hard, [false], { address }));
    assert.equal((await worker.respond(get("/v1/email/a@a.example"))).status, 503);
  }
});

test("Policies are bounded in documents, characters and keys", () => {
  const policies = new Policies();
  const known = (count: number, name: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => policies.last(KEY, name(n))).filter(Boolean).length;
  const used = policyOf("used");
  policies.keep(KEY, "used", used);
  for (let n = 0; n < 200; n++) {
    policies.keep(KEY, `n${n}`, policyOf(`${n}`));
    assert.equal(policies.last(KEY, "used"), used, "what is used remains");
  }
  assert.equal(
    known(200, (n) => `n${n}`),
    63,
  );
  for (let n = 0; n < 100; n++)
    policies.keep(KEY, `l${n}`, policyOf(`${n}${" ".repeat(256 << 10)}`));
  assert.equal(
    known(100, (n) => `l${n}`),
    15,
  );
  for (let n = 0; n < 3000; n++) policies.keep(KEY, `k${n}`, used);
  assert.equal(
    known(3000, (n) => `k${n}`),
    1024,
  );
});

test("a request goes on with its policy, though others replace it meanwhile", async () => {
  const engine = new Engine(compileModule());
  const { worker } = newWorker(
    async (request) => {
      const name = (request.headers.get("X-Edge-Policy") ?? "").split(" ")[0];
      if (name === "hard" && request.headers.get("X-Edge-Policy") !== "hard") {
        for (let n = 0; n < 100; n++)
          await worker.respond(get(`/v1/email/a@a.example?policy=n${n}`));
      }
      const policy = name === "hard" ? hard : policyOf(`{"allow":{"domains":["${name}.example"]}}`);
      return reply(request, policy, [true]);
    },
    { engine },
  );
  const response = await worker.respond(get("/v1/email/info@a.example?policy=hard"));
  assert.deepEqual(await verdictIn(response), BLOCKED);
});
