import assert from "node:assert/strict";
import { test } from "node:test";
import { COLUMNS, columnNames, isFormula, writeCell } from "../assets/csv-writer.js";
import { errorAnswer, answerOf } from "../assets/answer.js";
import { Halt } from "../assets/batches.js";
import { FileLayout, ResultLayout } from "../assets/layout.js";
import { idOf } from "../assets/list.js";
import { MemoryStore } from "../assets/list-store.js";
import { Recent } from "../assets/recent.js";
import { nothingDone, Run } from "../assets/run.js";
import { Speed } from "../assets/speed.js";
import { costSentence } from "../assets/list-cost.js";
import { survey } from "../assets/survey.js";
import { peek } from "../assets/table.js";
import { fileOf, readAll } from "./helpers.js";

/** @typedef {import("../assets/answer.js").Answer} Answer */
/** @typedef {import("../assets/run.js").Checker} Checker */
/** @typedef {import("../assets/run.js").Done} Done */

const style = { delimiter: ",", protect: true };

/** Facts that are recognized in a result. @param {string} email */
const facts = (email) => ({ email, valid: email.includes("@"), normalized: email.toLowerCase(), mx: true, gibberish_score: 0.25, role: null });

/** A checker that records its batches, and may fail. @implements {Checker} */
class FakeChecker {
  concurrency = 3;
  cost = 1;
  batch = 2;
  /** @type {string[][]} */
  asked = [];
  /** @param {(addresses: string[], n: number) => void} before */
  constructor(before = () => {}) {
    this.before = before;
  }

  /** @param {string[]} addresses */
  async check(addresses) {
    const n = this.asked.push(addresses);
    await new Promise((resolve) => setTimeout(resolve, (n * 7) % 5)); // answers come in another order
    this.before(addresses, n);
    return new Map(addresses.map((a) => [a, a.startsWith("fail") ? errorAnswer(a, "DNS_TIMEOUT", style) : answerOf(facts(a), style, true)]));
  }
}

/**
 * Runs a list from what was done before. Returns the text, what was done, and why it
 * ended early.
 * @param {File} file
 * @param {FakeChecker} checker
 * @param {{ from?: Done, recent?: Recent<string, Answer>, given?: Partial<import("../assets/table.js").Choice> }} options
 */
async function runList(file, checker, { from = nothingDone(), recent = new Recent(), given = {} } = {}) {
  const { choice, newline } = await peek(file, given);
  const { width } = await survey(file, choice);
  let text = "";
  let done = from;
  const run = new Run({
    file, choice, newline, style, from, checker, recent,
    layout: new FileLayout(choice, width, style),
    save: async (part, now) => {
      text += part;
      done = now;
    },
    onProgress: () => {},
  });
  const halt = await run.work().then(() => null, (error) => error);
  return { text, done, halt, width, choice, newline };
}

const LIST = "id,email\r\n1,a@x\r\n2,b@x\r\n3,a@x\r\n4,\r\n5,\"c\"\"@x\",extra\r\n6,fail@x\r\n7,d@x";

test("writes rows in order, beside what they were", async () => {
  const checker = new FakeChecker();
  const { text, done, halt } = await runList(fileOf(LIST), checker);
  assert.equal(halt, null);
  const rows = readAll(text);
  assert.deepEqual(rows[0]?.cells, ["id", "email", "", ...columnNames(["email"])]);
  assert.ok(text.endsWith("\r\n"));
  assert.deepEqual(rows.map((row) => row.cells.length), Array(8).fill(3 + COLUMNS.length));
  assert.deepEqual(rows.map((row) => row.cells[3]), ["addrspec_email", "a@x", "b@x", "a@x", "", 'c"@x', "fail@x", "d@x"]);
  assert.ok(rows[5]?.raw.startsWith('5,"c""@x",extra,'));
  assert.equal(rows[6]?.cells.at(-1), "DNS_TIMEOUT");
  assert.deepEqual(done, { row: 8, counts: { valid: 5, invalid: 0, failed: 1, none: 1 }, points: 5 });
  assert.deepEqual(checker.asked.flat().toSorted(), ["a@x", "b@x", 'c"@x', "d@x", "fail@x"]);
});

test("makes the same batches again after a crash, and pays for nothing twice", async () => {
  const rows = Array.from({ length: 100 }, (_, n) => `${n},p${n % 80}@x`);
  const file = fileOf(`id,email\n${rows.join("\n")}\n`);
  const whole = new FakeChecker();
  const want = await runList(file, whole);
  for (const at of [1, 5, 17, 30]) {
    const broken = new FakeChecker((_, n) => {
      if (n === at) throw new Halt("network", "gone");
    });
    const first = await runList(file, broken);
    assert.equal(first.halt.reason, "network");
    const recent = remembered(first.text, first.width);
    const rest = new FakeChecker();
    const second = await runList(file, rest, { from: first.done, recent });
    assert.equal(first.text + second.text, want.text);
    assert.deepEqual(second.done, want.done);
    assert.equal(second.done.points, 80);
    const batches = new Set(whole.asked.map(String));
    assert.ok(rest.asked.every((batch) => batches.has(String(batch))), "so they have the same Idempotency-Keys");
  }
});

/**
 * @param {string} text
 * @param {number} width
 */
function remembered(text, width) {
  /** @type {Recent<string, Answer>} */
  const recent = new Recent();
  const layout = new ResultLayout(width);
  for (const row of readAll(text).slice(1)) recent.set(row.cells[1] ?? "", layout.answer(row));
  return recent;
}

test("stops after what is under way", async () => {
  const file = fileOf(`email\n${Array.from({ length: 500 }, (_, n) => `p${n}@x`).join("\n")}\n`);
  const { choice, newline } = await peek(file);
  const checker = new FakeChecker((_, n) => n === 4 && run.stop());
  let text = "";
  const run = new Run({
    file, choice, newline, style, from: nothingDone(), checker, recent: new Recent(), layout: new FileLayout(choice, 1, style),
    save: async (part) => {
      text += part;
    },
    onProgress: () => {},
  });
  await assert.rejects(run.work(), { reason: "stopped" });
  assert.ok(checker.asked.length <= 12, `of 250, ${checker.asked.length}`);
  assert.equal(readAll(text).length, 1 + 2 * checker.asked.length, "what was asked for is written");
});

test("can be stopped while it never waits for an answer", async () => {
  const file = fileOf(`email\n${Array.from({ length: 300_000 }, (_, n) => `p${n}@x`).join("\n")}\n`);
  const { choice, newline } = await peek(file);
  let asked = 0;
  /** @type {Checker} */
  const checker = {
    batch: 64, concurrency: 1, cost: 0,
    check: async (list) => {
      if (asked++ === 0) setTimeout(() => run.stop()); // as soon as the run lets the page work
      return new Map(list.map((a) => [a, answerOf(facts(a), style, false)]));
    },
  };
  const run = new Run({
    file, choice, newline, style, from: nothingDone(), checker, recent: new Recent(), layout: new FileLayout(choice, 1, style),
    save: async () => {},
    onProgress: () => {},
  });
  await assert.rejects(run.work(), { reason: "stopped" });
});

test("halts if the browser cannot store the result", async () => {
  const file = fileOf("email\na@x\nb@x\n");
  const { choice, newline } = await peek(file);
  const run = new Run({
    file, choice, newline, style, from: nothingDone(), checker: new FakeChecker(), recent: new Recent(), layout: new FileLayout(choice, 1, style),
    save: () => Promise.reject(new DOMException("full", "QuotaExceededError")),
    onProgress: () => {},
  });
  await assert.rejects(run.work(), { reason: "storage" });
});

test("does not send what is longer than any address", async () => {
  const checker = new FakeChecker();
  const { text } = await runList(fileOf(`email\na@x\n${"x".repeat(5000)}@x\n`), checker);
  assert.deepEqual(checker.asked, [["a@x"]]);
  assert.equal(readAll(text)[2]?.cells.at(-1), "ADDRESS_TOO_LONG");
});

test("keeps few rows in memory while one address waits", async () => {
  const file = fileOf(`a@x\n${"b@x\n".repeat(100_000)}`, "x.txt");
  const checker = new FakeChecker();
  checker.batch = 64;
  const { done } = await runList(file, checker);
  assert.equal(done.counts.valid, 100_001);
  assert.equal(done.points, 2);
});

test("makes CSV of a text file without a header", async () => {
  const { text } = await runList(fileOf('a@x\n"b, c"@x\n', "x.txt"), new FakeChecker(), { given: { delimiter: "" } });
  const rows = readAll(text);
  assert.deepEqual(rows.map((row) => row.cells.slice(0, 2)), [["address", "email"], ["a@x", "a@x"], ['"b, c"@x', '"b, c"@x']]);
});

test("protects cells as OWASP advises", () => {
  for (const cell of ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝x"]) {
    assert.ok(isFormula(cell));
    assert.match(writeCell(cell, style), /^"?'/);
    assert.doesNotMatch(writeCell(cell, { ...style, protect: false }), /^"?'/);
  }
  assert.equal(writeCell('a"b', style), '"a""b"');
  assert.equal(writeCell(null, style), "");
  assert.equal(writeCell(false, style), "false");
});

test("remembers a bounded number of addresses, and half of that for certain", () => {
  /** @type {Recent<number, number>} */
  const recent = new Recent(100);
  for (let n = 1; n <= 1000; n++) {
    recent.set(n, n);
    assert.equal(recent.get(1), 1, "it is used all the time");
    for (let m = Math.max(1, n - 46); m <= n; m++) assert.equal(recent.get(m), m);
    assert.ok(recent.size <= 100);
  }
  assert.equal(recent.get(500), undefined);
});

// Time in proportion to what was forgotten, as the comment of Recent has it, takes hours.
test("remembers in constant time", { timeout: 120_000 }, () => {
  /** @type {Recent<number, true>} */
  const recent = new Recent();
  for (let n = 0; n < 1_000_000; n++) recent.set(n, true);
});

test("names a file by its name, size and beginning", async () => {
  const same = await idOf(fileOf("a,b\n1,2\n"));
  assert.equal(await idOf(fileOf("a,b\n1,2\n")), same);
  for (const other of [fileOf("a,b\n1,3\n"), fileOf("a,b\n1,2\n", "other.csv"), fileOf("a,b\n1,2\n\n")]) assert.notEqual(await idOf(other), same);
});

test("keeps lists apart in memory", async () => {
  const store = new MemoryStore();
  const saved = /** @type {import("../assets/list-store.js").Saved} */ (/** @type {unknown} */ ({ id: "a", pass: 1, parts: 1 }));
  await store.save(saved, new Blob(["1"]));
  await store.save({ ...saved, parts: 2 }, new Blob(["2"]));
  await store.save({ ...saved, id: "b" }, new Blob(["3"]));
  assert.equal(await new Blob(await store.parts("a", 1)).text(), "12");
  await store.forget("a");
  assert.deepEqual((await store.list()).map(({ id }) => id), ["b"]);
  assert.deepEqual(await store.parts("a", 1), []);
});

test("says how long it will take", () => {
  const speed = new Speed();
  speed.add(0, 0);
  assert.equal(speed.left(100), "");
  speed.add(100, 1000);
  assert.equal(speed.rate, 100);
  assert.equal(speed.left(1100), "about 10 seconds left");
  speed.add(1600, 16_000);
  assert.equal(speed.left(100_000), "about 16 minutes left");
});

test("says what a list costs", () => {
  const found = { rows: 100, addresses: 90, distinct: 80, width: 1, formulas: 0, names: [] };
  const usage = { points: { used: 950, limit: 1000, left: 50, overage: false, refill: "2026-12-01T00:00:00Z", rate: 1 } };
  const few = costSentence(found, usage, false);
  assert.match(few.text, /at most 80 points, but your account has 50 left until December 1\. When they are used up, checking stops/);
  assert.deepEqual([few.enough, few.startable, few.button], [false, true, "Check about 50"]);
  assert.equal(costSentence(found, { ...usage, points: { ...usage.points, left: 0 } }, false).startable, false);
  assert.match(costSentence(found, { ...usage, points: { ...usage.points, overage: true } }, false).text, /up to 30 are overage/);
  assert.match(costSentence({ ...found, addresses: 64_000, distinct: 64_000 }, { points: { ...usage.points, limit: null, left: null } }, false).text, /no limit\. At 1 request a second it takes at least 18 minutes/);
  assert.match(costSentence(found, usage, true).text, /costs nothing/);
  assert.equal(costSentence({ ...found, addresses: 0 }, usage, true).startable, false);
});
