// Reads files as the page Lists does and compares with what the command read: readers.mjs FILE.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readList } from "../assets/list-file.js";

/**
 * @typedef {{ Name: string, Content: string, Encoding: { Name: string, Why: string, Guessed: boolean }, Comma: string,
 *   Column: number, Names: string[] | null, Rows: { Cells: string[] | null, Email: string, Code: string, Message: string }[] | null }} Reading
 */

// Some versions of Node read Windows-1252 as ISO 8859-1, and browsers do not.
const HIGH = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9dž\u0178";
const { decode } = TextDecoder.prototype;
TextDecoder.prototype.decode = function (...args) {
  const text = decode.apply(this, args);
  if (this.encoding !== "windows-1252") return text;
  return text.replace(/[\x80-\x9f]/g, (c) => HIGH[c.charCodeAt(0) - 0x80] ?? c);
};

const names = readFileSync(new URL("../../check/input/names.txt", import.meta.url), "utf8");
/** @type {Reading[]} */
const readings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

for (const { Name, Content, Encoding, Comma, Column, Names, Rows } of readings) {
  const bytes = Buffer.from(Content, "base64");
  const found = await readList(new File([bytes], Name), {}, names);
  const { encoding, delimiter, column } = found.choice;
  const text = JSON.stringify(bytes.toString("latin1"));
  assert.deepEqual([encoding, found.why, found.guessed], Object.values(Encoding), text);
  assert.deepEqual([delimiter, column, found.names], [Comma, Column, Names], text);
  assert.deepEqual(
    found.rows.map(({ cells, address, failure }) => ({
      Cells: cells,
      Email: failure ? "" : address,
      Code: failure?.code ?? "",
      Message: failure?.message ?? "",
    })),
    (Rows ?? []).map((row) => ({
      ...row,
      Cells: row.Cells ?? [],
      Email: row.Code ? "" : row.Email,
    })),
    text,
  );
}
