import assert from "node:assert/strict";
import { test } from "node:test";

import { listening, listenOf, readConfig } from "./config.ts";

const SECRET = "sixteen letters.";
const minimal = { ADDRSPEC_ORIGIN: "https://origin.example/", ADDRSPEC_EDGE_SECRET: SECRET };

test("readConfig needs two settings", () => {
  assert.deepEqual(readConfig(minimal), {
    origin: "https://origin.example",
    secret: SECRET,
    timeoutMS: 15_000,
    flags: 0,
    pages: "public",
    lists: undefined,
  });
});

test("readConfig reads all settings", () => {
  const env = {
    ...minimal,
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
    lists: undefined,
  });
});

test("readConfig names a wrong setting", () => {
  for (const [name, value] of Object.entries({
    ADDRSPEC_ORIGIN: "origin.example",
    ADDRSPEC_EDGE_SECRET: "",
    ADDRSPEC_ORIGIN_TIMEOUT_MS: "0",
    ADDRSPEC_TYPO_SUGGESTION: "Domain",
    ADDRSPEC_FORWARD: "toString",
  })) {
    assert.throws(() => readConfig({ ...minimal, [name]: value }), new RegExp(name));
  }
  assert.throws(() => readConfig({}), /ADDRSPEC_ORIGIN is not set/);
});

// Made with minisign 0.11.
const PUBLIC_KEY = "RWRJigPaT5Ux8pt4gxmZPuJTB1Ipt3lGzHPJ809pD49ZzbR20adByO79";
const withLists = {
  ...minimal,
  ADDRSPEC_LISTS_URL: "https://lists.example/feed",
  ADDRSPEC_LISTS_KEY: PUBLIC_KEY,
};

test("readConfig reads where newer lists come from", () => {
  const { lists } = readConfig(withLists);
  assert.equal(lists?.feed.blob.href, "https://lists.example/feed/lists.blob");
  assert.equal(lists.feed.key.id, "F231954FDA038A49");
  assert.equal(lists.intervalMS, 6 * 3_600_000);
  // As wrangler.jsonc has them, for an operator to fill in.
  const empty = { ADDRSPEC_LISTS_URL: "", ADDRSPEC_LISTS_KEY: "", ADDRSPEC_LISTS_INTERVAL: "6h" };
  assert.equal(readConfig({ ...minimal, ...empty }).lists, undefined);
  for (const [text, ms] of [
    ["1s", 1000],
    ["90m", 5_400_000],
    ["1h30m", 5_400_000],
    ["168h", 604_800_000],
  ] as const) {
    const env = { ...withLists, ADDRSPEC_LISTS_INTERVAL: text };
    assert.equal(readConfig(env).lists?.intervalMS, ms);
  }
});

test("readConfig requires the signer's key for newer lists", () => {
  const { ADDRSPEC_LISTS_KEY: _, ...keyless } = withLists;
  assert.throws(() => readConfig(keyless), /ADDRSPEC_LISTS_KEY is not set: .* public key/);
  assert.throws(
    () => readConfig({ ...withLists, ADDRSPEC_LISTS_KEY: "RW" }),
    /ADDRSPEC_LISTS_KEY: /,
  );
  assert.throws(
    () => readConfig({ ...withLists, ADDRSPEC_LISTS_URL: "lists" }),
    /ADDRSPEC_LISTS_URL: /,
  );
  for (const wrong of ["0s", "6", "6d", "-1h", "169h", "1h 30m", "500ms"]) {
    const env = { ...withLists, ADDRSPEC_LISTS_INTERVAL: wrong };
    assert.throws(() => readConfig(env), /ADDRSPEC_LISTS_INTERVAL must be/, wrong);
  }
});

test("readConfig accepts only a scheme, host and port as origin", () => {
  const originOf = (ADDRSPEC_ORIGIN: string) => readConfig({ ...minimal, ADDRSPEC_ORIGIN }).origin;
  assert.equal(originOf("HTTPS://Origin.Example:443"), "https://origin.example");
  assert.equal(originOf("http://[::1]:8080/"), "http://[::1]:8080");
  for (const wrong of [
    "https://origin.example/path",
    "https://origin.example/?",
    "https://origin.example#",
    "https://user:word@origin.example",
    "https://origin.example\\x",
    "ftp://origin.example",
    "https://",
  ]) {
    assert.throws(() => originOf(wrong), /ADDRSPEC_ORIGIN must be/, wrong);
  }
});

test("readConfig forwards the dashboard only with ADDRSPEC_FORWARD=dashboard", () => {
  assert.equal(readConfig({ ...minimal, ADDRSPEC_FORWARD: "dashboard" }).pages, "dashboard");
});

test("readConfig refuses a short secret without quoting it", () => {
  for (const secret of ["short", "fifteen letters"]) {
    assert.throws(
      () => readConfig({ ...minimal, ADDRSPEC_EDGE_SECRET: secret }),
      (error: Error) =>
        /^ADDRSPEC_EDGE_SECRET has fewer than 16 characters; make/.test(error.message)
        && !error.message.includes(secret),
    );
  }
});

test("listenOf", () => {
  assert.deepEqual(listenOf({}), { hostname: "127.0.0.1", port: 8787 });
  assert.deepEqual(listenOf({ LISTEN: "[::1]:80" }), { hostname: "::1", port: 80 });
  assert.deepEqual(listenOf({ LISTEN: ":80" }), { hostname: "::", port: 80 });
  for (const LISTEN of ["80", "a:b", "a:99999"]) {
    assert.throws(() => listenOf({ LISTEN }), /HOST:PORT/);
  }
  assert.equal(listening("::1", 80), "addrspec edge on http://[::1]:80");
});
