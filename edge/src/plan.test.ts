import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { count, type Tally } from "./plan.ts";
import { engine } from "./testing.ts";

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
