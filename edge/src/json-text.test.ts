import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_DEPTH, misplaced } from "./json-text.ts";

const encoder = new TextEncoder();

test("the first octet out of place", () => {
  const cases: [string, number][] = [
    ["", 0], [" ", 1], ["{", 1], ["x", 0], ["{x", 1], ['{"a"', 4], ['{"a" 1', 5], ['{"a":', 5], ['{"a":1,}', 7], ['{"a":1 "b"', 7],
    ["[", 1], ["[1,]", 3], ["[1 2]", 3], ["[1}", 2], ["tru", 3], ["trux", 3], ["-", 1], ["-x", 1], ["1.", 2], ["1.x", 2], ["1e", 2], ["1e+x", 3],
    ['"a', 2], ['"\n"', 1], ['"\\x"', 2], ['"\\u12g4"', 5], ['"\\', 2],
  ];
  for (const [text, at] of cases) assert.deepEqual(misplaced(encoder.encode(text)), { at, afterValue: false }, JSON.stringify(text));
});

test("what follows a whole value", () => {
  for (const [text, at] of [["{}x", 2], ["01", 1], ["[] []", 3], ['"" ,', 3]] as const) {
    assert.deepEqual(misplaced(encoder.encode(text)), { at, afterValue: true }, text);
  }
});

test("nesting has a limit", () => {
  const nested = (depth: number) => encoder.encode("[".repeat(depth) + "]".repeat(depth));
  assert.equal(misplaced(nested(MAX_DEPTH)), undefined);
  assert.deepEqual(misplaced(nested(MAX_DEPTH + 1)), { at: MAX_DEPTH, afterValue: false });
});

test("agrees with JSON.parse on damaged JSON", () => {
  const whole = '{"a":[1,-2.5e+3,"\\u00e9\\n",true,false,null,{}],"b":{"c":[[]]}} ';
  const odd = '{}[]:,"\\0-+.eEtfn1 u\n\x01';
  for (let at = 0; at < whole.length; at++) {
    for (const c of ["", ...odd]) {
      for (const text of [whole.slice(0, at) + c + whole.slice(at + 1), whole.slice(0, at) + c + whole.slice(at), whole.slice(0, at) + c]) {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        assert.equal(misplaced(encoder.encode(text)) === undefined, valid, JSON.stringify(text));
      }
    }
  }
});
