import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CsvReader, MAX_CELLS, MAX_ROW } from "../assets/csv-reader.js";
import { readAll } from "./helpers.js";

const cells = (/** @type {import("../assets/csv-reader.js").Row[]} */ rows) => rows.map((row) => row.cells);

// The reader of `addrspec check` passes the same table.
/** @type {{ name: string, text: string, rows: string[][] }[]} */
const CASES = JSON.parse(readFileSync(new URL("../../check/input/testdata/rows.json", import.meta.url), "utf8"));

for (const { name, text, rows: want } of CASES) {
  test(`reads ${name}, whatever the pieces`, () => {
    for (let size = 1; size <= Math.max(1, text.length); size++) {
      const rows = readAll(text, ",", size);
      assert.deepEqual(cells(rows), want, `pieces of ${size}`);
    }
  });
}

test("keeps rows as they were written", () => {
  const text = '"a ""b""",  c ,"d\ne"\r\nf,,\n';
  const [first, second] = readAll(text, ",", 3);
  assert.equal(first?.raw, '"a ""b""",  c ,"d\ne"');
  assert.deepEqual(first?.ends.map((end, n) => first.raw.slice(n && /** @type {number} */ (first.ends[n - 1]) + 1, end)), ['"a ""b"""', "  c ", '"d\ne"']);
  assert.equal(second?.raw, "f,,");
  assert.deepEqual([first?.line, second?.line], [1, 3]);
});

test("reads a line of text as one cell", () => {
  assert.deepEqual(cells(readAll('"john, smith"@example.org\nb;c\n', "")), [['"john, smith"@example.org'], ["b;c"]]);
});

test("names the line of an unclosed quote, at the end of the file", () => {
  assert.throws(() => readAll('a,b\n"c\nd",e\n1,"f\n\n'), { code: "quote", line: 4 });
});

/**
 * Pushes text until the reader throws.
 * @param {CsvReader} reader
 * @param {string} text
 * @param {number} times
 */
function pushMany(reader, text, times) {
  for (let n = 1; n <= times; n++) reader.push(text);
}

test("gives up an unclosed quote after a mebibyte", () => {
  const reader = new CsvReader(",");
  reader.push('a,b\n1,"c');
  assert.throws(() => pushMany(reader, `${"x".repeat(63 << 10)}\n`, 20), { code: "quote", line: 2 });
});

test("refuses a row of 50 MB after its first mebibyte", () => {
  const reader = new CsvReader(",");
  const piece = "x".repeat(64 << 10);
  let pushed = 0;
  assert.throws(() => {
    for (; pushed < 50 << 20; pushed += piece.length) reader.push(piece);
  }, { code: "row", line: 1 });
  assert.ok(pushed <= MAX_ROW, `${pushed}`);
});

test("refuses a long row that is one piece", () => {
  assert.throws(() => readAll(`a\n${"x".repeat(MAX_ROW + 1)}\nb\n`), { code: "row", line: 2 });
  assert.equal(readAll(`a\n${"x".repeat(MAX_ROW)}\nb\n`).length, 3);
});

test("refuses a million columns", () => {
  assert.throws(() => readAll(`a\n${",".repeat(1e6)}`), { code: "cells", line: 2 });
  assert.equal(readAll(",".repeat(MAX_CELLS - 1))[0]?.cells.length, MAX_CELLS);
});

// encoding/csv of Go wrote these tables; see scripts_test.go.
test("agrees with another writer", { skip: !process.env.ADDRSPEC_TABLES }, () => {
  /** @type {{ text: string, rows: string[][] }[]} */
  const tables = JSON.parse(readFileSync(process.env.ADDRSPEC_TABLES ?? "", "utf8"));
  assert.ok(tables.length >= 500);
  for (const { text, rows } of tables) {
    assert.deepEqual(cells(readAll(text)), rows);
    assert.deepEqual(cells(readAll(text, ",", 7)), rows);
  }
});
