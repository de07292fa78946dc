import assert from "node:assert/strict";
import { test } from "node:test";

import { type BatchInput, parseBatch } from "./batch.ts";

const encoder = new TextEncoder();

/** Returns the addresses of a body. */
function parse(
  body: string | number[],
  headers: Record<string, string> = {},
): readonly string[] | undefined {
  return parseInput(body, headers)?.emails;
}

function parseInput(
  body: string | number[],
  headers: Record<string, string> = {},
): BatchInput | undefined {
  const bytes = typeof body === "string" ? encoder.encode(body) : Uint8Array.from(body);
  return parseBatch(new Headers({ "Content-Type": "application/json", ...headers }), bytes);
}

test("parseBatch returns the distinct addresses", () => {
  assert.deepEqual(parse('{"emails":["a","a\\u0000","é\\u00e9\u{1f600}"]}'), [
    "a",
    "a\0",
    "éé\u{1f600}",
  ]);
  assert.deepEqual(parse(' {\n"emails" : [ "b", "a" ,"b"]\t}\r\n'), ["b", "a"]);
  assert.deepEqual(parse('{"emails":[""]}'), [""]);
  assert.deepEqual(parse('{"\\u0065mails":["a"]}'), ["a"]);
  const most = Array.from({ length: 64 }, (_, n) => `${n}`);
  assert.deepEqual(parse(JSON.stringify({ emails: [...most, ...most] })), most);
  assert.deepEqual(
    parse('{"emails":["a"]}', { "Content-Type": "application/json; charset=utf-8" }),
    ["a"],
  );
});

test("parseBatch returns whether details are asked for", () => {
  const emails = ["a"];
  assert.deepEqual(parseInput('{"emails":["a"]}'), { emails, details: false });
  assert.deepEqual(parseInput('{"emails":["a"],"details":false}'), { emails, details: false });
  assert.deepEqual(parseInput('{"details":true, "emails":["a"]}'), { emails, details: true });
});

test("parseBatch leaves other bodies to the origin", () => {
  const bodies = [
    "",
    " ",
    "nonsense",
    "null",
    "[]",
    "7",
    '"emails"',
    "{}",
    '{"emails":null}',
    '{"emails":[]}',
    '{"emails":"a"}',
    '{"emails":{"0":"a"}}',
    '{"emails":["a",7]}',
    '{"emails":["a",null]}',
    '{"emails":["a"]',
    '{"emails":["a"],}',
    '{"emails":["a"]} x',
    '{"emails":["a"]}{}',
    '\ufeff{"emails":["a"]}',
    '{"emails":["a"],"emails":["b"]}',
    '{"emails":["a"],"details":null}',
    '{"emails":["a"],"details":"true"}',
    '{"emails":["a"],"details":1}',
    '{"emails":["a"],"details":true,"details":true}',
    '{"emails":["a"],"details":true,"x":1}',
    '{"emails":["a"],"Details":true}',
    '{"emails":["a"],"policy":null}',
    '{"emails":["a"],"policy":"p"}',
    '{"details":true}',
    '{"EMAILS":["a"]}',
    '{"Emails":["b"],"emails":["a"]}',
    '{"__proto__":{"emails":["a"]}}',
    '{"emails":["a"],"__proto__":1}',
    '{"emails":["\\ud800"]}',
    '{"emails":["\\uD83d\\uDe00"]}',
    '{"emails":["\\\\ud800"]}',
    '{"emails":["\t"]}',
    `{"emails":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
  ];
  for (const body of bodies) assert.equal(parse(body), undefined, body.slice(0, 80));
  assert.equal(
    parse(JSON.stringify({ emails: Array.from({ length: 65 }, (_, n) => `${n}`) })),
    undefined,
  );
  for (const bytes of [[0xff], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    assert.equal(
      parse([...encoder.encode('{"emails":["'), ...bytes, ...encoder.encode('"]}')]),
      undefined,
      `${bytes}`,
    );
  }
});

test("parseBatch leaves other media types, encodings and Idempotency-Key to the origin", () => {
  const body = '{"emails":["a"]}';
  for (const type of [
    "",
    "text/plain",
    "application/json, application/json",
    "application/json;",
  ]) {
    assert.equal(parse(body, { "Content-Type": type }), undefined, type);
  }
  assert.equal(parse(body, { "Idempotency-Key": "" }), undefined);
  for (const encoding of ["", "gzip", "identity", "identity, identity"]) {
    assert.equal(parse(body, { "Content-Encoding": encoding }), undefined, encoding);
  }
});
