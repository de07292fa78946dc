import assert from "node:assert/strict";
import { test } from "node:test";

import { keyHeadersOf, problemOf } from "./origin.ts";

function retryAfter(status: number, wait?: string): string | undefined | null {
  const bodies: Record<number, object> = {
    402: { success: false, error: { code: "INSUFFICIENT_USAGE", message: "m" } },
    429: { status, title: "Too Many Requests", detail: "d" },
    503: { status, error: "e", code: "REQUEST_CANCELLED" },
  };
  const headers = new Headers({ "Content-Type": "application/json" });
  if (wait !== undefined) headers.set("Retry-After", wait);
  const passed = problemOf(
    new Response(null, { status, headers }),
    JSON.stringify(bodies[status]),
    {},
  );
  return passed === undefined ? null : passed.headers?.["Retry-After"];
}

test("problemOf passes a well-formed Retry-After", () => {
  for (const status of [429, 503]) assert.equal(retryAfter(status, "7"), "7");
});

test("problemOf adds a Retry-After only to a 503", () => {
  for (const odd of [undefined, "0", "-1", "1.5", "soon", "Fri, 31 Dec 1999 23:59:59 GMT"]) {
    assert.equal(retryAfter(503, odd), "1", odd);
    assert.equal(retryAfter(429, odd), undefined, odd);
    assert.equal(retryAfter(402, odd), undefined, odd);
  }
});

test("problemOf passes no other status and no other body", () => {
  const shapeB = '{"success":false,"error":{"code":"INVALID_REQUEST","message":"m"}}';
  const bodies = [shapeB, '{"success":false,"error":null}', '{"status":429}', "null", "<p>"];
  for (const status of [400, 403, 404, 409, 413, 415, 422]) {
    const response = new Response(null, {
      status,
      headers: { "Content-Type": "application/json" },
    });
    for (const body of bodies) {
      assert.equal(problemOf(response, body, {}), undefined, `${status} ${body}`);
    }
  }
  for (const status of [401, 402, 429, 500, 503]) {
    const response = new Response(null, {
      status,
      headers: { "Content-Type": "application/json" },
    });
    for (const body of bodies.slice(1)) {
      assert.equal(problemOf(response, body, {}), undefined, `${status} ${body}`);
    }
    const page = new Response(null, { status, headers: { "Content-Type": "text/html" } });
    assert.equal(problemOf(page, shapeB, {}), undefined, `${status} of another media type`);
  }
});

test("keyHeadersOf returns well-formed headers", () => {
  const given = {
    "X-Usage-Current": "7",
    "X-Usage-Limit": "unlimited",
    "X-Usage-Overage": "false",
    RateLimit: '"second";r=4;t=1',
    "RateLimit-Policy": '"second";q=5;w=1',
    "X-Other": "1",
  };
  assert.deepEqual(keyHeadersOf(new Headers(given)), {
    "X-Usage-Current": "7",
    "X-Usage-Limit": "unlimited",
    RateLimit: '"second";r=4;t=1',
    "RateLimit-Policy": '"second";q=5;w=1',
  });
  assert.deepEqual(
    keyHeadersOf(
      new Headers({
        "X-Usage-Current": "-1",
        "X-Usage-Limit": "many",
        RateLimit: "é",
        "RateLimit-Policy": "x".repeat(257),
      }),
    ),
    {},
  );
});

test("keyHeadersOf returns what lets a page read the response, if it is well-formed", () => {
  const given = {
    "Access-Control-Allow-Origin": "https://shop.example:8443",
    "Access-Control-Expose-Headers": "X-Request-Id, Retry-After",
    Vary: "Origin",
  };
  assert.deepEqual(keyHeadersOf(new Headers(given)), given);
  for (const odd of ["*", "null", "https://", "https://a.example https://b.example", ""]) {
    assert.deepEqual(
      keyHeadersOf(new Headers({ "Access-Control-Allow-Origin": odd, Vary: "*" })),
      {},
      odd,
    );
  }
});

test("problemOf keeps the limits", () => {
  const response = new Response(null, {
    status: 429,
    headers: { "Content-Type": "application/json", "Retry-After": "1" },
  });
  const passed = problemOf(response, '{"status":429,"title":"t","detail":"d"}', {
    RateLimit: '"second";r=0;t=1',
  });
  assert.equal(passed?.headers?.RateLimit, '"second";r=0;t=1');
});
