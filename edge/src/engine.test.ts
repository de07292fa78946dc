import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compileModule, engine } from "../test/testing.ts";
import { Engine } from "./engine.ts";
import { DETAILS, FULL_SUGGESTION, isClassed, TooLong } from "./instance.ts";

interface Report {
  email: string;
  valid: boolean;
  host: string;
  sentence: string;
}

test("Engine.check agrees with every report of the golden vectors", () => {
  const lines = readFileSync(join(process.env.ADDRSPEC_VECTORS ?? "", "reports.jsonl"), "utf8")
    .trim()
    .split("\n");
  assert.ok(lines.length > 100);
  for (const line of lines) {
    const want = JSON.parse(line) as Report;
    const { host, refusal, json, emailEnd, mx } = engine.check(want.email);
    const text = Buffer.from(json);
    assert.equal(host, want.host, want.email);
    assert.equal(refusal, want.valid ? null : want.sentence, want.email);
    assert.equal(JSON.parse(text.subarray(9, emailEnd).toString()), want.email);
    const value = host === "" ? "false" : "null";
    assert.equal(text.subarray(mx.at - 5, mx.at + mx.length).toString(), `"mx":${value}`);
  }
});

test("Engine.check has the places of the values that a lookup decides", () => {
  for (const [email, flags, classed] of [
    ["jane@mailinator.com", 0, true],
    ["jane@burner.example", DETAILS, false],
    ["jane@gmial.com", DETAILS, true],
    ["jane@[192.0.2.1]", DETAILS, false],
  ] as const) {
    const facts = engine.check(email, flags);
    const { disposable, exchange, json } = facts;
    const text = Buffer.from(json).toString();
    const valueAt = (at: number, length: number): unknown =>
      JSON.parse(text.slice(at, at + length));
    const want = JSON.parse(text) as { disposable: boolean };
    assert.equal(valueAt(disposable.at, disposable.length), want.disposable);
    assert.equal(exchange !== undefined, text.includes('"exchange":') && facts.host !== "");
    if (exchange !== undefined) assert.equal(valueAt(exchange.at, exchange.length), null);
    assert.equal(isClassed(facts), classed);
  }
});

test("Engine.result has what its JSON has, in the same order", () => {
  const long = `${"a".repeat(5000)}@example.org`;
  for (const text of [
    "",
    "@",
    "Jane.DOE@Example.ORG",
    "JANE@GMIAL.COM",
    "jane (a comment) @example.org",
    '"jane"@example.org',
    '"a\\b"c":"d@e"@gmial.com',
    "jane@[IPv6:2001:DB8::1]",
    "j\u00e4ne@b\u00fccher.example",
    "jane@xn--bcher-kva.example",
    "\u212aelvin@example.org", // in lower case it has an ASCII letter
    "\u00c3\u00a4@example.org", // its units are bytes of UTF-8
    "\ud800@example.org",
    "jane\u0000@example.org",
    "jane\u007f@example.org",
    long,
    long.replaceAll("a", "\u00e9"),
  ])
    for (const email of [text, Buffer.from(text)])
      for (const flags of [0, FULL_SUGGESTION, DETAILS, FULL_SUGGESTION | DETAILS]) {
        const want = Buffer.from(engine.check(email, flags).json).toString();
        assert.equal(JSON.stringify(engine.result(email, flags)), want);
      }
});

test("Engine.result goes on when the memory has grown", () => {
  const raw = new WebAssembly.Instance(compiled, {});
  const { memory, addrspec_check } = raw.exports as unknown as {
    memory: WebAssembly.Memory;
    addrspec_check(length: number, flags: number): number;
  };
  const growing = (length: number, flags: number) => {
    memory.grow(1);
    return addrspec_check(length, flags);
  };
  const exports = { ...raw.exports, addrspec_check: growing };
  const grown = new Engine(compiled, { exports } as unknown as WebAssembly.Instance);
  for (const email of ["jane@gmial.com", "info@example.org"])
    assert.deepEqual(grown.result(email, 0), engine.result(email, 0));
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
  const other = { exports: { ...raw.exports, addrspec_abi_version: () => (1 << 16) | 2 } };
  assert.throws(
    () => new Engine(compileModule(), other as unknown as WebAssembly.Instance),
    /interface version 1\.2, this host needs 2; take both from one release$/,
  );
});

test("Engine.versions", () => {
  assert.deepEqual(Object.keys(engine.versions()), ["engine", "lists", "model"]);
});

/** Returns an engine whose first instance damages the output of addrspec_check_many. */
function damaging(damage: (output: Uint8Array, n: number) => number): Engine {
  const raw = new WebAssembly.Instance(compiled, {});
  const { memory, addrspec_check_many, addrspec_out_ptr } = raw.exports as unknown as {
    memory: WebAssembly.Memory;
    addrspec_check_many(length: number, flags: number): number;
    addrspec_out_ptr(): number;
  };
  const many = (length: number, flags: number) => {
    const n = addrspec_check_many(length, flags);
    return damage(new Uint8Array(memory.buffer, addrspec_out_ptr()), n);
  };
  const exports = { ...raw.exports, addrspec_check_many: many };
  return new Engine(compiled, { exports } as unknown as WebAssembly.Instance);
}

const compiled = compileModule();

test("Engine.results refuses another number of results, and goes on", () => {
  const pair = ["jane@example.org", "x"];
  const damages: ((output: Uint8Array, n: number) => number)[] = [
    () => 0,
    () => -6,
    () => 4,
    (output, n) => output.copyWithin(n, 0, n) && 2 * n,
    (_, n) => n - 1,
    (output, n) => output.fill(255, 0, 8) && n,
    () => 2 ** 31 - 1,
  ];
  for (const damage of damages) {
    const damaged = damaging(damage);
    assert.throws(() => damaged.results(pair, 0), /^Error: addrspec_check_many returned /);
    assert.deepEqual(damaged.results(pair, 0), engine.results(pair, 0));
  }
});

test("Engine.results ends whatever bytes the output has", () => {
  const list = ["jane@example.org", "", "info@gmial.com", "a".repeat(500)];
  let random = 1;
  const below = (n: number) => {
    random = (Math.imul(random, 1103515245) + 12345) >>> 0; // ISO C's example of rand
    return (random >>> 8) % n;
  };
  let refused = 0;
  for (let round = 0; round < 1000; round++) {
    const damaged = damaging((output, n) => {
      for (let slips = 1 + below(3); slips > 0; slips--) output[below(n)] = below(256);
      return below(4) === 0 ? below(2 * n) : n;
    });
    try {
      assert.equal(damaged.results(list, 0).length, list.length);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      refused++;
    }
  }
  assert.ok(refused > 100 && refused < 1000, `${refused}`);
});
