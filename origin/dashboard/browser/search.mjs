// Searches the documentation for every name, with the index of the service: search.mjs FILE. Fails
// unless a name finds itself first, its beginnings find it, and each other query finds its path first.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { search } from "../assets/search.js";

/** @type {{ index: import("../assets/search.js").Index, names: string[], first: Record<string, string> }} */
const { index, names, first } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

for (const name of names) {
  assert.ok(
    has(search(index, name)[0], name),
    `${name} finds ${search(index, name)[0]?.path} first`,
  );
  for (let length = 4; length < name.length; length++) {
    const beginning = name.slice(0, length);
    const results = search(index, beginning);
    assert.ok(
      results.some((result) => has(result, name)),
      `${beginning} does not find ${name}`,
    );
  }
}

for (const [query, path] of Object.entries(first)) {
  assert.equal(search(index, query)[0]?.path, path, query);
}

/** Whether a result is the section or the row of a name. @param {import("../assets/search.js").Result | undefined} result @param {string} name */
function has(result, name) {
  return (
    result?.title
      .toLowerCase()
      .split(/[^a-z0-9_.-]+/)
      .includes(name.toLowerCase()) ?? false
  );
}
