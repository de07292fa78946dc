// Unit tests of the ticks of a policy, in Node: node --test policy.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";

const { entriesOf, parseRules, withEntries } = await import("../assets/policy-rules.js");

test("changes a section, and nothing else", () => {
  const rules = parseRules(
    '{"later": 1, "block": {"reasons": ["role:noreply", "typo", "role"], "later": [], "domains": ["a.example"]}, "allow": {"reasons": ["x"]}}',
  );
  assert.ok(rules);
  const changed = withEntries(rules, "block", {
    domains: [],
    reasons: ["disposable", "role", "role:noreply", "role"],
  });
  assert.deepEqual(JSON.parse(changed), {
    later: 1,
    block: { reasons: ["role:noreply", "role", "disposable"], later: [] },
    allow: { reasons: ["x"] },
  });
  assert.deepEqual(Object.keys(JSON.parse(changed)), ["later", "block", "allow"]);
  const added = { domains: ["b.example"], addresses: ["jane@b.example"] };
  assert.deepEqual(JSON.parse(withEntries(rules, "allow", added)).allow, {
    reasons: ["x"],
    ...added,
  });
});

test("has no empty section", () => {
  const rules = { review: { reasons: ["gibberish>=0.9"] } };
  assert.equal(withEntries(rules, "review", { exchanges: [], reasons: [] }), "{}");
  assert.match(withEntries({}, "review", { reasons: ["gibberish>=0.9"] }), /"gibberish>=0\.9"/);
});

test("knows what it cannot show", () => {
  for (const document of '|{|null|[]|"x"|{"block": []}|{"block": {"reasons": [1]}}|{"allow": {"exchanges": {}}}'.split(
    "|",
  ))
    assert.equal(parseRules(document), null, document);
  assert.deepEqual(parseRules('{"block": {}}'), { block: {} });
});

test("reads lines", () => {
  assert.deepEqual(entriesOf(" a.example \r\n\n*.b.example"), ["a.example", "*.b.example"]);
});
