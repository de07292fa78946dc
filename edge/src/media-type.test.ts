import assert from "node:assert/strict";
import { test } from "node:test";

import { isJSON } from "./media-type.ts";

test("JSON with any parameters, and nothing else", () => {
  for (const type of ["application/json", "Application/JSON", " application/json ; charset=utf-8", 'application/json; a="x\\"y"; b=2;']) {
    assert.ok(isJSON(type), type);
  }
  for (const type of ["", "text/json", "application/jsonp", "application/json, text/plain", "application/json; charset", "application/json; a=1; A=2", "application/json;;"]) {
    assert.ok(!isJSON(type), type);
  }
});

test("a hostile header takes no time", () => {
  assert.ok(!isJSON(`application/json${';a="\\'.repeat(8_000)}`));
  assert.ok(!isJSON(`application/json${" ".repeat(30_000)}x`));
  assert.ok(!isJSON(`application/json;${" ".repeat(30_000)}x`));
  assert.ok(!isJSON(`application/json${" ; a = 1".repeat(4_000)} x`));
});
