// Unit tests of the search of the documentation, in Node: node --test search.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";

const { excerpt, matcher, search, split } = await import("../assets/search.js");

/** @type {import("../assets/search.js").Index} */
const INDEX = {
  pages: [
    ["/docs/a", "Errors"],
    ["/docs/b", "The result"],
  ],
  entries: [
    [0, "", "Errors", "What to do about each."],
    [
      0,
      "bad-body",
      "BAD_BODY",
      "Status 400. The body is bad. See typo_suggestion.",
      "400\nbad post",
    ],
    [0, "bad-body.x-id", "X-Id", "string · The id (a+b)."],
    [1, "", "The result", "What each field means."],
    [1, "fields", "Fields", "The fields."],
    [1, "fields.typo", "typo", "boolean · Whether the domain is misspelled."],
    [1, "fields.typo_suggestion", "typo_suggestion", "string · The domain that was meant."],
    [1, "fields.body", "body", "string · What is bad."],
    [1, "fields.400", "400", "What is a bad post."],
  ],
};

/** @param {string} query */
const paths = (query) => search(INDEX, query).map(({ path }) => path);

for (const [query, want] of /** @type {[string, string[]][]} */ ([
  ["", []],
  ["   ", []],
  ["zebra", []],
  ["typo", ["/docs/b#fields.typo", "/docs/b#fields.typo_suggestion", "/docs/a#bad-body"]],
  ["TYPO_SUG", ["/docs/b#fields.typo_suggestion", "/docs/a#bad-body"]],
  ["suggestion", ["/docs/b#fields.typo_suggestion", "/docs/a#bad-body"]],
  ["ypo", []],
  ["x-id", ["/docs/a#bad-body.x-id"]],
  ["bad_body", ["/docs/a#bad-body"]],
  ["bad body", ["/docs/a#bad-body", "/docs/b#fields.body"]],
  ["domain meant", ["/docs/b#fields.typo_suggestion"]],
  [
    "the result",
    ["/docs/b", "/docs/b#fields", "/docs/b#fields.typo", "/docs/b#fields.typo_suggestion"],
  ],
  ["(a+b)", ["/docs/a#bad-body.x-id"]],
  ["^", []],
  ["400", ["/docs/a#bad-body", "/docs/b#fields.400"]],
  ["Bad post", ["/docs/a#bad-body", "/docs/b#fields.400"]],
])) {
  test(`finds ${JSON.stringify(query)}`, () => assert.deepEqual(paths(query), want));
}

test("says where a row is", () => {
  const [row] = search(INDEX, "typo_suggestion");
  assert.deepEqual([row?.title, row?.place], ["typo_suggestion", "The result, Fields"]);
  assert.equal(search(INDEX, "bad_body")[0]?.place, "Errors");
  assert.equal(search(INDEX, "Errors")[0]?.place, "");
});

test("has few results", () => {
  /** @type {[number, string, string, string][]} */
  const entries = Array.from({ length: 100 }, (_, n) => [0, `n${n}`, `Name ${n}`, ""]);
  assert.equal(search({ ...INDEX, entries }, "name").length, 20);
});

test("marks what matches, the longest word first", () => {
  const parts = ["", "typo", " and ", "typo_sug", "gestion"];
  assert.deepEqual(split("typo and typo_suggestion", matcher("typo typo_sug")), parts);
  assert.deepEqual(split("text", matcher("")), ["text"]);
});

test("shows a part of a long text", () => {
  const text = `${"before ".repeat(100)}needle ${"after ".repeat(100)}`;
  assert.match(excerpt(text, matcher("needle")), /^… (before )+needle (after )*after …$/);
  assert.match(excerpt(text, matcher("before")), /^before .*before …$/);
  assert.equal(excerpt("short", matcher("x")), "short");
  assert.equal(excerpt("y".repeat(1000), matcher("x")).length, 142);
  for (const query of ["needle", "before", "x"])
    assert.ok(excerpt(text, matcher(query)).length < 160);
});

// What somebody may type.
test("takes any query", () => {
  const words = ["{1,}", "<b>", "typo", "\ud800", "\\u{1}"];
  const pieces = [..."()[]\\^$*+?|/-.a \tßİ😀\u0000", ...words];
  let seed = 1;
  const next = () => (seed = (seed * 48271) % 2147483647);
  for (let n = 0; n < 500; n++) {
    const some = Array.from({ length: next() % 12 }, () => pieces[next() % pieces.length]);
    const query = some.join("");
    const pattern = matcher(query);
    const found = [...search(INDEX, query), { title: query, text: query.repeat(9) }];
    for (const { title, text } of found) {
      for (const whole of [title, text]) {
        assert.equal(split(whole, pattern).join(""), whole, query);
        excerpt(whole, pattern);
      }
    }
  }
});
