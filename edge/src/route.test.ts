import assert from "node:assert/strict";
import { test } from "node:test";
import { config } from "../test/testing.ts";
import { Origin } from "./origin.ts";
import { problemResponse } from "./response.ts";
import { malformed, type Pages, parameters, percentDecode, routeOf, targetOf } from "./route.ts";

const ORIGIN = "https://origin.example";
const origin = new Origin({ ...config, origin: ORIGIN }, fetch, () => undefined);

/** Returns an operation, a target for the origin, or the status of a response. */
function routed(target: string, method = "GET", pages: Pages = "dashboard"): string | number {
  const wrong = malformed(target, new Headers());
  if (wrong !== undefined) return problemResponse(wrong).status;
  const route = routeOf(method, target, pages);
  if ("status" in route) return route.status;
  if (route.to === "page") return origin.keeps(route.target) ? route.target : 404;
  return ["usage", "hook", "mcp"].includes(route.to) ? route.target : route.to;
}

/** Private paths of the origin, in forms that a URL parser normalizes to them. */
const HOSTILE = String.raw`
  /metrics /readyz /v1/edge/admit /x/../metrics /x/%2e%2e/readyz /./metrics /x/..\metrics
  /metrics#x //metrics //evil.example/metrics /\metrics /%2e/metrics /docs/../metrics
  /assets/../metrics /assets/..%2fmetrics /assets/%2e%2e/metrics /assets/.%2E/metrics
  /assets/.. /assets/. /assets//x /assets/..\metrics /dashboard/../metrics
  /dashboard/x/../../metrics /dashboard/%2e%2e/readyz /dashboard/..;/metrics
  /healthz/../metrics /healthz/ /healthz%2f..%2fmetrics /healthz;x /healthz#/../metrics
  /metrics? /metrics?x /METRICS /metric%73 /%6detrics /metrics/ /v1/emails/../edge/admit
  /v1/edge/../edge/admit /v1/usage/../edge/admit /v1//edge/admit /docs?a#b /docs?a'b /docs?é
  /docs?" /@evil.example/ /:80/`
  .trim()
  .split(/\s+/);

test("routeOf refuses paths that are not in the table", () => {
  for (const target of HOSTILE) assert.equal(routed(target), 404, target);
  for (const target of [
    "",
    "*",
    "metrics",
    "http://evil.example/metrics",
    "http://evil.example/healthz",
    "HTTP://x",
    "evil.example:443",
    "\\metrics",
    "/healthz\t",
    "/heal\nthz",
    "/met\trics",
    "/x/..\r/metrics",
    "/\0",
    "/docs?a b",
  ]) {
    assert.equal(routed(target), 400, JSON.stringify(target));
  }
});

test("routeOf sends hooks to the origin, whatever the method", () => {
  for (const method of ["POST", "GET", "HEAD", "OPTIONS", "PUT"]) {
    assert.equal(routed("/v1/hooks/signup?x=/metrics", method, "none"), "/v1/hooks/signup");
  }
  const wrong = String.raw`
    /v1/hooks /v1/hooks/ /v1/hooks/.. /v1/hooks/../edge/admit /v1/hooks/a/b /v1/hooks/a/
    /v1/hooks/A /v1/hooks/%61 /v1/hooks/a%2fb /v1/hooks/-a /v1/hooks/a\b`;
  for (const target of [...wrong.trim().split(/\s+/), `/v1/hooks/${"a".repeat(51)}`]) {
    assert.equal(routed(target, "POST"), 404, target);
  }
});

test("the worker serves /versions itself, whatever it forwards", () => {
  for (const pages of ["none", "public", "dashboard"] as const) {
    assert.equal(routed("/versions", "GET", pages), "versions");
    assert.equal(routed("/versions?x", "HEAD", pages), "versions");
    assert.equal(routed("/versions", "POST", pages), 405);
    assert.equal(routed("/versions", "OPTIONS", pages), 405);
    assert.equal(routed("/versions/", "GET", pages), 404);
  }
});

test("routeOf keeps targets in the table unchanged", () => {
  const kept = `
    / /?a=b /llms.txt /docs /docs?a=%2F&b=.. /docs/check-emails /docs/errors.md /sign-in
    /sign-in/openid/callback?code=a&state=b /sign-up /link/abc-_1
    /confirm/passkey?to=%2Fdashboard /assets/a.css /assets/a-b_c/d.0.js?v=1 /assets/...
    /assets/.a /assets/a.. /healthz /openapi.json /.well-known/security.txt /v1/usage
    /dashboard /dashboard/ /dashboard/keys?x=1`;
  for (const target of kept.trim().split(/\s+/)) {
    assert.equal(routed(target), target);
  }
  assert.equal(routed("/healthz?x#y"), "/healthz");
  assert.equal(routed("/v1/usage?a=b"), "/v1/usage");
});

test("routeOf forwards pages as configured", () => {
  assert.equal(routed("/dashboard/keys", "POST", "dashboard"), "/dashboard/keys");
  for (const method of ["GET", "POST"]) {
    assert.equal(routed("/sign-in", method, "dashboard"), "/sign-in");
    for (const target of ["/", "/docs", "/assets/a", "/sign-in", "/link/a", "/dashboard/keys"]) {
      assert.equal(routed(target, method, "public"), 404);
    }
  }
  for (const target of ["/", "/healthz", "/openapi.json", "/dashboard"]) {
    assert.equal(routed(target, "GET", "none"), 404);
  }
  assert.equal(routed("/v1/usage", "GET", "none"), "/v1/usage");
});

test("routeOf forwards no random target outside the table", () => {
  const plain = String.raw`/ . .. %2e %2F \ # ? ; @ : metrics assets dashboard sign-in healthz v1 é % x`;
  const alphabet = [...plain.split(" "), "\t"];
  let forwarded = 0;
  let seed = 1;
  const random = (n: number) => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed % n;
  };
  for (let n = 0; n < 100_000; n++) {
    const parts = Array.from({ length: random(7) }, () => alphabet[random(alphabet.length)]);
    const target = `/${parts.join("")}`;
    const sent = routed(target);
    if (typeof sent === "number" || sent === "single" || sent === "batch") continue;
    forwarded++;
    assert.match(sent, /^\/(?:$|\?|docs|assets|dashboard|sign-in|healthz$)/, target);
    const url = new URL(ORIGIN + sent);
    assert.equal(
      url.origin + url.pathname + url.search,
      `${ORIGIN}${sent.replace(/^([^?]*)\?$/, "$1")}`,
      target,
    );
    assert.ok(
      !url.pathname.includes("metrics") || /^\/(?:assets|dashboard|sign-in)\//.test(url.pathname),
      target,
    );
  }
  assert.ok(forwarded > 1000, `${forwarded}`);
});

test("routeOf checks methods", () => {
  const allow = (target: string, method: string) => {
    const route = routeOf(method, target, "dashboard");
    return "status" in route ? [route.status, route.headers?.Allow] : route.to;
  };
  assert.equal(allow("/v1/email/a@b", "HEAD"), "single");
  assert.deepEqual(allow("/v1/email/a@b", "POST"), [405, "GET, HEAD, OPTIONS"]);
  assert.deepEqual(allow("/v1/emails", "GET"), [405, "POST, OPTIONS"]);
  assert.equal(allow("/mcp", "POST"), "mcp");
  assert.deepEqual(allow("/mcp", "GET"), [405, "POST, OPTIONS"]);
  assert.deepEqual(allow("/mcp", "DELETE"), [405, "POST, OPTIONS"]);
  assert.deepEqual(allow("/mcp/", "POST"), [404, undefined]);
  assert.deepEqual(allow("/v1/usage", "PUT"), [405, "GET, HEAD, OPTIONS"]);
  assert.deepEqual(allow("/healthz", "OPTIONS"), [405, "GET, HEAD"]);
  assert.deepEqual(allow("/v1/edge/admit", "POST"), [404, undefined]);
});

test("routeOf responds to preflights", () => {
  for (const [target, methods] of [
    ["/v1/email", "GET, HEAD, OPTIONS"],
    ["/v1/email/a%zz", "GET, HEAD, OPTIONS"],
    ["/v1/emails", "POST, OPTIONS"],
    ["/v1/usage", "GET, HEAD, OPTIONS"],
    ["/mcp", "POST, OPTIONS"],
  ] as const) {
    assert.deepEqual(routeOf("OPTIONS", target, "none"), {
      status: 204,
      body: null,
      headers: {
        Allow: methods,
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Max-Age": "86400",
        "Access-Control-Allow-Headers": `Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id${
          target === "/mcp" ? ", Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id" : ""
        }`,
      },
    });
  }
  assert.equal(routed("/v1/nothing", "OPTIONS"), 404);
  assert.equal(routed("/v1/edge/admit", "OPTIONS"), 404);
});

test("targetOf keeps the target as it was sent", () => {
  for (const [url, target] of [
    ["https://edge.example/v1/email/a//b/../c?d", "/v1/email/a//b/../c?d"],
    ["https://edge.example//v1", "//v1"],
    ["https://edge.example", "/"],
    ["http://edge.example?x=/healthz", "?x=/healthz"],
    ["*", "*"],
    ["edge.example:80", "edge.example:80"],
    ["/healthz", "/healthz"],
  ] as const)
    assert.equal(targetOf(url), target);
});

test("malformed refuses targets and hosts that could be taken for others", () => {
  const refused = (target: string, host: string) =>
    malformed(target, new Headers({ Host: host })) !== undefined;
  for (const target of ["/", "/%", "/é", "/+", "//", "/\\", "/#"])
    assert.ok(!refused(target, "edge.example"), target);
  for (const target of [
    "",
    "*",
    "a",
    "http://edge.example/",
    "/a b",
    "/\x00",
    "/\x7f",
    "/?\t",
    "\\/",
  ])
    assert.ok(refused(target, "edge.example"), target);
  for (const host of ["", "edge.example:8787", "[::1]:80", "127.0.0.1", "xn--bcher-kva.example"])
    assert.ok(!refused("/", host), host);
  for (const host of ["a/healthz?", "a?", "a#", "a\\b", "a@b", "a, b", "a b", "\u00e9"])
    assert.ok(refused("/", host), host);
});

test("percentDecode decodes once, to bytes if need be", () => {
  const decode = (path: string) => Buffer.from(percentDecode(path) ?? []).toString("latin1");
  assert.equal(decode("a+b%2B%2540"), "a+b+%40");
  assert.equal(percentDecode("a+b@mail.example"), "a+b@mail.example");
  assert.equal(decode("%ff%00"), "\xff\0");
  assert.equal(decode("é%c3%A9"), "\xc3\xa9\xc3\xa9");
});

test("percentDecode rejects a percent sign without two digits", () => {
  for (const path of ["%", "a%2", "%zz", "%%41", "%41%", "%é9"]) {
    assert.equal(percentDecode(path), undefined, path);
  }
});

test("parameters are those of the name, as they were sent", () => {
  assert.deepEqual(parameters("?policy&x=1&policy=&policy=A", "policy"), [
    "policy",
    "policy=",
    "policy=A",
  ]);
  for (const query of ["", "?", "?details=true", "?Policy=p&policyx=p&x=policy=p&%70olicy=p"])
    assert.deepEqual(parameters(query, "policy"), [], query);
});
