import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeBatch } from "./batch-body.ts";
import { isFault } from "./fault.ts";

const encoder = new TextEncoder();

function decode(body: string | number[]): string[] | string {
  const emails = decodeBatch(typeof body === "string" ? encoder.encode(body) : Uint8Array.from(body));
  return isFault(emails) ? emails.message : emails;
}

test("takes", () => {
  assert.deepEqual(decode("{}"), []);
  assert.deepEqual(decode('{"emails":["a","a\\u0000"]}'), ["a", "a\0"]);
  assert.deepEqual(decode('{"emails":5,"emails":["y"],"Emails":7}'), ["y"]);
  assert.deepEqual(decode('{"__proto__":{"emails":["x"]}}'), []);
  assert.deepEqual(decode('{"emails":["\\ud800","\\ud83d\\u0041"]}'), ["\ufffd", "\ufffdA"]);
});

test("says where", () => {
  assert.equal(decode('{"emails":["a",3]}'), "emails[1] must be a string.");
  assert.equal(decode('{"emails":null}'), "emails must be an array of strings.");
  assert.equal(decode("null"), 'The body must be an object: {"emails": ["jane@example.org"]}.');
  assert.equal(decode("[]"), 'The body must be an object: {"emails": ["jane@example.org"]}.');
  assert.equal(decode('{"emails":['), "The body is not JSON: it ends too early, at byte 11.");
  assert.equal(decode('{"emails":[}'), "The body is not JSON: byte 11 is unexpected.");
  assert.equal(decode("{} {}"), "The body must be one JSON object with nothing after it.");
  assert.equal(decode("\ufeff{}"), "The body is not JSON: byte 0 is unexpected.");
});

test("finds the byte that is not UTF-8", () => {
  const at = (bytes: number[]) => /byte (\d+) is not UTF-8/.exec(decode(bytes) as string)?.[1];
  assert.equal(at([0x22, 0xff, 0x22]), "1");
  assert.equal(at([0x22, 0xe2, 0x82]), "1", "cut off");
  assert.equal(at([0x22, 0xef, 0xbf]), "1", "cut off within U+FFFD");
  assert.equal(at([0x22, 0xef, 0xbf, 0xbd, 0xc0, 0xaf]), "4", "behind a true U+FFFD");
  assert.equal(at([0x22, 0xef, 0xbf, 0x28]), "1", "broken within U+FFFD");
  assert.equal(at([0xed, 0xa0, 0x80]), "0", "a surrogate");
});
