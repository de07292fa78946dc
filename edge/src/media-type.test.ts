import assert from "node:assert/strict";
import { test } from "node:test";

import { isJSON } from "./media-type.ts";

test("isJSON accepts the usual forms", () => {
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json ; charset=UTF-8 ",
  ]) {
    assert.ok(isJSON(type), type);
  }
});

test("isJSON rejects forms that the origin has to decide on", () => {
  for (const type of [
    null,
    "",
    "text/json",
    "application/jsonp",
    "application/json, application/json",
    "application/json; charset=latin1",
    "application/json;",
    'application/json; charset="utf-8"',
    "application/json; a=1",
    "application/json\n",
  ]) {
    assert.ok(!isJSON(type), String(type));
  }
  assert.ok(!isJSON(`application/json${" ".repeat(60_000)}x`));
});
