import assert from "node:assert/strict";
import { test } from "node:test";

import { isBroken, pathOf, percentDecode, targetOf } from "./target.ts";

test("the target stays as it was sent", () => {
  assert.equal(targetOf("https://edge.example/v1/email/a//b/../c?d"), "/v1/email/a//b/../c?d");
  assert.equal(targetOf("https://edge.example//v1"), "//v1");
  assert.equal(targetOf("https://edge.example"), "/");
  assert.equal(pathOf("/a?b?c"), "/a");
});

test("broken paths", () => {
  for (const path of ["/%", "/%2", "/%zz", "/%%41", "/a b", "/\x00", "/\x7f"]) assert.ok(isBroken(path), path);
  for (const path of ["/", "/%25", "/%fF", "/é", "/+"]) assert.ok(!isBroken(path), path);
});

test("decoded once, in octets", () => {
  const decode = (path: string) => Buffer.from(percentDecode(path)).toString("latin1");
  assert.equal(decode("a+b%2B%2540"), "a+b+%40");
  assert.equal(decode("%ff%00"), "\xff\0");
  assert.equal(decode("é%c3%A9"), "\xc3\xa9\xc3\xa9");
});
