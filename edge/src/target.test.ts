import assert from "node:assert/strict";
import { test } from "node:test";

import { isHost, isOriginForm, percentDecode, split, targetOf } from "./target.ts";

test("targetOf and split keep the target as it was sent", () => {
  assert.equal(targetOf("https://edge.example/v1/email/a//b/../c?d"), "/v1/email/a//b/../c?d");
  assert.equal(targetOf("https://edge.example//v1"), "//v1");
  assert.equal(targetOf("https://edge.example"), "/");
  for (const odd of ["*", "edge.example:80", "/healthz"]) assert.equal(targetOf(odd), odd);
  assert.equal(targetOf("http://edge.example?x=/healthz"), "?x=/healthz");
  assert.deepEqual(split("/a?b?c"), { path: "/a", query: "?b?c" });
  assert.deepEqual(split("/a"), { path: "/a", query: "" });
});

test("isOriginForm", () => {
  for (const target of ["/", "/%", "/é", "/+", "//", "/\\", "/#"]) {
    assert.ok(isOriginForm(target), target);
  }
  for (const target of [
    "",
    "*",
    "a",
    "http://edge.example/",
    "edge.example:443",
    "/a b",
    "/\x00",
    "/\x7f",
    "/?\t",
    "\\/",
  ]) {
    assert.ok(!isOriginForm(target), target);
  }
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

test("isHost", () => {
  for (const host of [
    "",
    "edge.example",
    "edge.example:8787",
    "[::1]:80",
    "127.0.0.1",
    "xn--bcher-kva.example",
  ]) {
    assert.ok(isHost(host), host);
  }
  for (const host of ["a/healthz?", "a?", "a#", "a\\b", "a@b", "a, b", "a b", "\u00e9"]) {
    assert.ok(!isHost(host), host);
  }
});
