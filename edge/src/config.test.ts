import assert from "node:assert/strict";
import { test } from "node:test";

import { readConfig } from "./config.ts";
import { listenOf, welcome } from "./listen.ts";

const least = { ADDRSPEC_ORIGIN: "https://origin.example/", ADDRSPEC_EDGE_SECRET: "s" };

test("two settings are enough", () => {
  assert.deepEqual(readConfig(least), { origin: "https://origin.example", secret: "s", timeoutMS: 15_000, flags: 0, forward: true });
});

test("all settings", () => {
  const env = { ...least, ADDRSPEC_ORIGIN_TIMEOUT_MS: "100", ADDRSPEC_TYPO_SUGGESTION: "address", ADDRSPEC_FORWARD: "no" };
  assert.deepEqual(readConfig(env), { origin: "https://origin.example", secret: "s", timeoutMS: 100, flags: 1, forward: false });
});

test("a wrong setting is named", () => {
  for (const [name, value] of Object.entries({
    ADDRSPEC_ORIGIN: "origin.example", ADDRSPEC_EDGE_SECRET: "", ADDRSPEC_ORIGIN_TIMEOUT_MS: "0", ADDRSPEC_TYPO_SUGGESTION: "Domain", ADDRSPEC_FORWARD: "toString",
  })) {
    assert.throws(() => readConfig({ ...least, [name]: value }), new RegExp(name));
  }
  assert.throws(() => readConfig({ ...least, ADDRSPEC_ORIGIN: "https://origin.example/path" }), /ADDRSPEC_ORIGIN/);
  assert.throws(() => readConfig({}), /ADDRSPEC_ORIGIN is not set/);
});

test("where to listen", () => {
  assert.deepEqual(listenOf({}), { hostname: "127.0.0.1", port: 8787 });
  assert.deepEqual(listenOf({ LISTEN: "[::1]:80" }), { hostname: "::1", port: 80 });
  assert.deepEqual(listenOf({ LISTEN: ":80" }), { hostname: "::", port: 80 });
  for (const LISTEN of ["80", "a:b", "a:99999"]) assert.throws(() => listenOf({ LISTEN }), /HOST:PORT/);
  assert.equal(welcome("::1", 80), "addrspec edge on http://[::1]:80");
});
