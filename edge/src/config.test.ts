import assert from "node:assert/strict";
import { test } from "node:test";

import { readConfig } from "./config.ts";
import { listenOf, welcome } from "./listen.ts";

const SECRET = "sixteen letters.";
const least = { ADDRSPEC_ORIGIN: "https://origin.example/", ADDRSPEC_EDGE_SECRET: SECRET };

test("two settings are enough", () => {
  assert.deepEqual(readConfig(least), {
    origin: "https://origin.example",
    secret: SECRET,
    timeoutMS: 15_000,
    flags: 0,
    pages: "public",
  });
});

test("all settings", () => {
  const env = {
    ...least,
    ADDRSPEC_ORIGIN_TIMEOUT_MS: "100",
    ADDRSPEC_TYPO_SUGGESTION: "address",
    ADDRSPEC_FORWARD: "no",
  };
  assert.deepEqual(readConfig(env), {
    origin: "https://origin.example",
    secret: SECRET,
    timeoutMS: 100,
    flags: 1,
    pages: "none",
  });
});

test("a wrong setting is named", () => {
  for (const [name, value] of Object.entries({
    ADDRSPEC_ORIGIN: "origin.example",
    ADDRSPEC_EDGE_SECRET: "",
    ADDRSPEC_ORIGIN_TIMEOUT_MS: "0",
    ADDRSPEC_TYPO_SUGGESTION: "Domain",
    ADDRSPEC_FORWARD: "toString",
  })) {
    assert.throws(() => readConfig({ ...least, [name]: value }), new RegExp(name));
  }
  assert.throws(() => readConfig({}), /ADDRSPEC_ORIGIN is not set/);
});

test("the origin is scheme, host and port", () => {
  const originOf = (ADDRSPEC_ORIGIN: string) => readConfig({ ...least, ADDRSPEC_ORIGIN }).origin;
  assert.equal(originOf("HTTPS://Origin.Example:443"), "https://origin.example");
  assert.equal(originOf("http://[::1]:8080/"), "http://[::1]:8080");
  for (const odd of [
    "https://origin.example/path",
    "https://origin.example/?",
    "https://origin.example#",
    "https://user:word@origin.example",
    "https://origin.example\\x",
    "ftp://origin.example",
    "https://",
  ]) {
    assert.throws(() => originOf(odd), /ADDRSPEC_ORIGIN must be/, odd);
  }
});

test("the dashboard is passed on only where configured", () => {
  assert.equal(readConfig({ ...least, ADDRSPEC_FORWARD: "dashboard" }).pages, "dashboard");
});

test("a secret that could be guessed is refused, and not repeated", () => {
  for (const secret of ["short", "fifteen letters"]) {
    assert.throws(
      () => readConfig({ ...least, ADDRSPEC_EDGE_SECRET: secret }),
      (failure: Error) =>
        /^ADDRSPEC_EDGE_SECRET has fewer than 16 characters; make/.test(failure.message)
        && !failure.message.includes(secret),
    );
  }
});

test("where to listen", () => {
  assert.deepEqual(listenOf({}), { hostname: "127.0.0.1", port: 8787 });
  assert.deepEqual(listenOf({ LISTEN: "[::1]:80" }), { hostname: "::1", port: 80 });
  assert.deepEqual(listenOf({ LISTEN: ":80" }), { hostname: "::", port: 80 });
  for (const LISTEN of ["80", "a:b", "a:99999"])
    assert.throws(() => listenOf({ LISTEN }), /HOST:PORT/);
  assert.equal(welcome("::1", 80), "addrspec edge on http://[::1]:80");
});
