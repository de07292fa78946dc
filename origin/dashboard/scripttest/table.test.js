import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { peek, rowsOf } from "../assets/table.js";
import { survey } from "../assets/survey.js";
import { fileOf } from "./helpers.js";

/**
 * @param {File} file
 * @param {Partial<import("../assets/table.js").Choice>} given
 */
async function read(file, given = {}) {
  const { choice } = await peek(file, given);
  const all = [];
  for await (const { rows } of rowsOf(file, choice)) all.push(...rows.map((row) => row.cells));
  return all;
}

// `addrspec check` guesses the same.
/** @type {{ name: string, file: string, text: string, delimiter: string, header: boolean, column: number }[]} */
const GUESSES = JSON.parse(readFileSync(new URL("../../check/input/testdata/layouts.json", import.meta.url), "utf8"));

for (const { name, file, text, ...want } of GUESSES) {
  test(`guesses ${name}`, async () => {
    const { choice } = await peek(fileOf(text, file));
    assert.deepEqual({ delimiter: choice.delimiter, header: choice.header, column: choice.column }, want);
  });
}

test("takes a header alone for a row", async () => {
  const { choice } = await peek(fileOf("name,email\n", "x.csv"));
  assert.deepEqual(choice, { encoding: "utf-8", delimiter: ",", header: false, column: 1 });
});

test("does not guess what is given", async () => {
  const { choice } = await peek(fileOf("a,b@x.example\n"), { delimiter: "|", header: true, column: 0 });
  assert.deepEqual(choice, { encoding: "utf-8", delimiter: "|", header: true, column: 0 });
});

const text = "naïve,josé@bücher.example\n😀,b@example.org\n";
const want = [["naïve", "josé@bücher.example"], ["😀", "b@example.org"]];
/** @param {boolean} big @returns {Uint8Array<ArrayBuffer>} */
const utf16 = (big) => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return new Uint8Array(big ? bytes.swap16() : bytes);
};

for (const [name, content] of /** @type {[string, Uint8Array<ArrayBuffer>][]} */ ([
  ["UTF-8", new TextEncoder().encode(text)],
  ["UTF-8 with a mark", new TextEncoder().encode(`\ufeff${text}`)],
  ["UTF-16 LE", utf16(false)],
  ["UTF-16 BE", utf16(true)],
])) {
  test(`decodes ${name}, whatever the chunks`, async () => {
    for (const size of [1, 2, 3, 5, 1000]) assert.deepEqual(await read(fileOf(content, "x.csv", size)), want);
  });
}

test("offers Windows-1252 where UTF-8 fails, and names the line", async () => {
  const file = fileOf(Buffer.from("a@example.org,x\nb@example.org,y\nc@example.org,Andr\xe9\nd@example.org,z\n", "latin1"));
  for (const size of [7, 20, 1000]) {
    file.stream = fileOf(new Uint8Array(await file.arrayBuffer()), "x", size).stream;
    await assert.rejects(read(file), { code: "encoding", line: 3 });
  }
  const rows = await read(file, { encoding: "windows-1252" });
  assert.deepEqual(rows[2], ["c@example.org", "André"]);
});

test("refuses what is no list", async () => {
  await assert.rejects(read(fileOf("")), { code: "empty" });
  await assert.rejects(read(fileOf("a,b\nc,\0d\n")), { code: "binary", line: 2 });
  await assert.rejects(read(fileOf(Buffer.from("504b0304140000000800", "hex"))), { code: "binary" });
  await assert.rejects(read(fileOf(Buffer.concat([Buffer.from("a,b\n"), Buffer.from("\xe2\x82", "latin1")]))), { code: "encoding" });
  await assert.rejects(read(fileOf('a,b\n1,"c\n')), { code: "quote", line: 2, text: /^Line 2: / });
});

test("surveys a list", async () => {
  const content = "name,email\nA,a@example.org\n=B,b@example.org\nA again, a@example.org \nnone,\nlong," + "x".repeat(5000) + ",-1\n";
  const file = fileOf(content);
  const { choice } = await peek(file);
  assert.deepEqual(await survey(file, choice), { rows: 5, addresses: 3, distinct: 2, width: 3, formulas: 2, names: ["name", "email"] });
});
