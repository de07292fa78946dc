import assert from "node:assert/strict";
import { test } from "node:test";

import { DETAILS } from "./instance.ts";
import { queryDetails, queryPolicy } from "./single.ts";

test("queryDetails returns the flag", () => {
  const flags = new Map([
    ["", 0],
    ["?", 0],
    ["?details=true", DETAILS],
    ["?details=false", 0],
    ["?a=b&details=true&c", DETAILS],
    ["?Details=true", 0],
    ["?%64etails=true", 0],
    ["?detailsx=true", 0],
    ["?x=details=true", 0],
    ["?&&", 0],
  ]);
  for (const [query, flag] of flags) assert.equal(queryDetails(query), flag, query);
});

test("queryDetails refuses other values, and two", () => {
  for (const query of [
    "?details",
    "?details=",
    "?details=1",
    "?details=TRUE",
    "?details=true&details=true",
    "?details=true&details=false",
    "?details=tru%65",
    "?details=true;",
    "?details=true=true",
  ]) {
    assert.equal(queryDetails(query), undefined, query);
  }
});

test("queryPolicy returns the name", () => {
  const long = "a".repeat(64);
  for (const [query, name] of [
    ["", undefined],
    ["?Policy=p&policyx=p&x=policy=p&%70olicy=p", undefined],
    ["?policy=p", "p"],
    ["?x=1&policy=sign-up_2&y", "sign-up_2"],
    [`?policy=${long}`, long],
  ] as const) {
    assert.equal(queryPolicy(query), name, query);
  }
});

test("queryPolicy refuses what is no name, and two", () => {
  for (const value of [
    "",
    "=",
    "=A",
    "=a&policy=a",
    "=a&policy",
    "=%61",
    "=a=",
    "=a;",
    "=..",
    "='",
  ]) {
    assert.equal(queryPolicy(`?policy${value}`), null, value);
  }
  assert.equal(queryPolicy(`?policy=${"a".repeat(65)}`), null);
});
