import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Engine } from "./engine.ts";
import { FULL_SUGGESTION, TooLong } from "./instance.ts";
import { compileModule, engine } from "./testing.ts";

interface Report {
  email: string;
  valid: boolean;
  host: string;
  code: string;
  offset: number;
  section: string;
  sentence: string;
}

test("Engine.check agrees with every report of the golden vectors", () => {
  const lines = readFileSync(join(process.env.ADDRSPEC_VECTORS ?? "", "reports.jsonl"), "utf8")
    .trim()
    .split("\n");
  assert.ok(lines.length > 100);
  for (const line of lines) {
    const want = JSON.parse(line) as Report;
    const { host, refusal, json, emailEnd, mxAt } = engine.check(want.email);
    const text = Buffer.from(json);
    assert.equal(host, want.host, want.email);
    assert.equal(refusal === null, want.valid, want.email);
    const { code, offset, section, sentence } = refusal ?? {
      code: "",
      offset: 0,
      section: "",
      sentence: "",
    };
    assert.deepEqual(
      { code, offset, section, sentence },
      { code: want.code, offset: want.offset, section: want.section, sentence: want.sentence },
      want.email,
    );
    assert.equal(JSON.parse(text.subarray(9, emailEnd).toString()), want.email);
    assert.equal(text.subarray(mxAt - 5, mxAt + 5).toString(), '"mx":false');
  }
});

test("FULL_SUGGESTION suggests the whole address", () => {
  const check = (flags: number) => {
    const text = Buffer.from(engine.check("jane@gmial.com", flags).json).toString();
    return (JSON.parse(text) as { typo_suggestion: string }).typo_suggestion;
  };
  assert.equal(check(0), "gmail.com");
  assert.equal(check(FULL_SUGGESTION), "jane@gmail.com");
});

test("Engine keeps its instance when an address is too long", () => {
  assert.throws(() => engine.check("a".repeat((1 << 20) + 1)), TooLong);
  assert.throws(() => engine.check(new Uint8Array((1 << 20) + 1)), TooLong);
  assert.equal(engine.check("jane@example.org").refusal, null);
});

test("Engine replaces an instance that trapped", () => {
  const module = compileModule();
  const raw = new WebAssembly.Instance(module, {});
  let calls = 0;
  const trapping = {
    exports: {
      ...raw.exports,
      addrspec_check: () => {
        calls++;
        throw new WebAssembly.RuntimeError("unreachable");
      },
    },
  };
  const damaged = new Engine(module, trapping as unknown as WebAssembly.Instance);
  assert.throws(() => damaged.check("jane@example.org"), WebAssembly.RuntimeError);
  assert.equal(damaged.check("jane@example.org").refusal, null);
  assert.equal(calls, 1);
});

test("Engine replaces an instance that returned an error", () => {
  const module = compileModule();
  const raw = new WebAssembly.Instance(module, {});
  const broken = { exports: { ...raw.exports, addrspec_check: () => -3 } };
  const damaged = new Engine(module, broken as unknown as WebAssembly.Instance);
  assert.throws(() => damaged.check("jane@example.org"), /returned -3/);
  assert.equal(damaged.check("jane@example.org").refusal, null);
});

test("Engine refuses another interface version", () => {
  const raw = new WebAssembly.Instance(compileModule(), {});
  const other = { exports: { ...raw.exports, addrspec_abi_version: () => 2 << 16 } };
  assert.throws(
    () => new Engine(compileModule(), other as unknown as WebAssembly.Instance),
    /interface version 2/,
  );
});

test("Engine.versions", () => {
  assert.deepEqual(Object.keys(engine.versions()), ["engine", "lists", "model"]);
});
