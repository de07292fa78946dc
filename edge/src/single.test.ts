import assert from "node:assert/strict";
import { test } from "node:test";

import { DETAILS } from "./instance.ts";
import { hasPolicy, planSingle, queryDetails } from "./single.ts";
import { engine } from "./testing.ts";

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

test("hasPolicy reports every parameter policy, also what is no name", () => {
  for (const query of ["?policy=p", "?x=1&policy=sign-up_2&y", "?policy", "?policy=&policy=A"])
    assert.ok(hasPolicy(query), query);
  for (const query of ["", "?", "?details=true", "?Policy=p&policyx=p&x=policy=p&%70olicy=p"])
    assert.ok(!hasPolicy(query), query);
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
