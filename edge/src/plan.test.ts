import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { engine } from "../test/testing.ts";
import { DETAILS } from "./instance.ts";
import {
  type BatchInput,
  count,
  parseBatch,
  planSingle,
  queryDetails,
  type Tally,
} from "./plan.ts";

const KINDS = ["valid", "role", "gibberish", "disposable", "public", "relay", "typo"] as const;

/** Returns the tally of one address as JSON.parse reads it. */
function parsed(json: Uint8Array): Tally {
  const fields = JSON.parse(Buffer.from(json).toString()) as Record<string, unknown>;
  const tally: Tally = fields.valid === true ? {} : { invalid: 1 };
  for (const kind of KINDS) {
    if (fields[kind] !== null && fields[kind] !== false) tally[kind] = 1;
  }
  return tally;
}

function counted(...emails: string[]): Tally {
  const tally: Tally = {};
  for (const email of emails) count(tally, engine.check(email));
  return tally;
}

test("count agrees with JSON.parse on every golden vector", () => {
  const directory = process.env.ADDRSPEC_VECTORS ?? "";
  const seen: Tally = {};
  for (const file of readdirSync(directory).filter((name) => name.endsWith(".ndjson"))) {
    for (const line of readFileSync(join(directory, file), "utf8").trim().split("\n")) {
      const { email } = JSON.parse(line) as { email: string };
      assert.deepEqual(counted(email), parsed(engine.check(email).json), email);
      count(seen, engine.check(email));
    }
  }
  for (const kind of ["invalid", ...KINDS] as const) assert.ok(seen[kind], `no vector is ${kind}`);
});

test("count adds up", () => {
  const emails = [
    "jane@gmail.com",
    "jane@gmial.com",
    "support@example.org",
    "no address",
    "x@[192.0.2.1]",
  ];
  assert.deepEqual(counted(...emails), { valid: 4, public: 1, typo: 1, role: 1, invalid: 1 });
});

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

test("the 400 for an address has the module's refusal if details are asked for", () => {
  const decoder = new TextDecoder();
  for (const email of [
    "jane..doe@example.org",
    "<jane@example.org>",
    '",\\"canonical\\":null}@example.org',
    '"},"canonical":null,@example.org',
    Uint8Array.of(0xff),
    "j\u00e4ne\u2028@@example.org",
    "a".repeat(5000),
  ]) {
    const bodyOf = (query: string) =>
      planSingle((address, flags) => engine.check(address, flags), email, query).finish([])
        .body as string;
    const facts = decoder.decode(engine.check(email, DETAILS).json);
    const { refusal } = (JSON.parse(facts) as { details: { refusal: object } }).details;
    const details = `"details":{"refusal":${JSON.stringify(refusal)}}`;
    const plain = bodyOf("");
    assert.ok(facts.includes(details.slice(0, -1)), "JSON.stringify writes the module's bytes");
    assert.equal(bodyOf("?details=true"), `${plain.slice(0, -1)},${details}}`);
    assert.equal(bodyOf("?details=false"), plain);
  }
  const wrong = planSingle(() => assert.fail(), "a", "?details=1").finish([]).body as string;
  assert.ok(!wrong.includes('"details":{'), wrong);
});

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
