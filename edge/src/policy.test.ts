import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compileModule } from "../test/testing.ts";
import { Engine } from "./engine.ts";
import { FOUND, PolicyRefused } from "./instance.ts";
import { FACT } from "./report.ts";

/** A line of policies.jsonl (wasm/vectors/policy.go). */
interface Case {
  policy: string;
  error?: string;
  place: string;
  offset: number;
  email: string;
  disposable: boolean;
  mx: boolean | null;
  address: boolean | null;
  exchanges?: string[];
  verdict: unknown;
}

const lines = readFileSync(join(process.env.ADDRSPEC_VECTORS ?? "", "policies.jsonl"), "utf8")
  .trim()
  .split("\n");

/** What the host of a case found. */
function foundIn({ mx, address }: Case): number {
  const known = mx === null ? 0 : FOUND.lookedUp | (mx ? FOUND.mx : 0);
  if (address === null) return known;
  return known | FOUND.addressLookedUp | (address ? FOUND.addressRecord : 0);
}

test("Engine.verdict gives every verdict of the vectors, byte for byte", () => {
  assert.ok(lines.length > 80);
  const engine = new Engine(compileModule());
  for (const line of lines) {
    const want = JSON.parse(line) as Case;
    if (want.error !== undefined) {
      const refused = () => engine.verdict(want.policy, { set: 0, more: 0, host: "", address: "" });
      assert.throws(refused, (error) => {
        assert.ok(error instanceof PolicyRefused);
        const { message, place, offset } = error;
        assert.deepEqual([message, place, offset], [want.error, want.place, want.offset]);
        return true;
      });
      continue;
    }
    const facts = engine.check(want.email);
    const set = want.disposable ? facts.set | FACT.disposable : facts.set;
    const { email: address, exchanges = [] } = want;
    const subject = { ...facts, set, address, exchanges };
    const verdict = engine.verdict(want.policy, subject, foundIn(want));
    assert.equal(Buffer.from(verdict).toString(), JSON.stringify(want.verdict), line);
  }
});

test("More policies than an instance has, and refused ones between, never get each other's verdict", () => {
  const engine = new Engine(compileModule());
  const of = (n: number) => `{"block":{"domains":["d${n}.example"]}}`;
  const action = (n: number, policy: string) => {
    const address = `a@d${n}.example`;
    const verdict = engine.verdict(policy, { ...engine.check(address), address });
    return (JSON.parse(Buffer.from(verdict).toString()) as { action: string }).action;
  };
  for (let n = 0; n < 80; n++) {
    assert.throws(() => action(n, "7"), PolicyRefused);
    assert.equal(action(n % 40, of(n % 40)), "block");
    assert.equal(action((n + 1) % 40, of(n % 40)), "allow");
  }
});

test("A document of several pieces is one, and one that is too long is refused", () => {
  const engine = new Engine(compileModule());
  const policy = `{"block":{"domains":["a.example"${" ".repeat(2 << 20)}]}}`;
  const subject = { ...engine.check("a@a.example"), address: "a@a.example" };
  assert.match(Buffer.from(engine.verdict(policy, subject)).toString(), /^{"action":"block"/);
  assert.throws(() => engine.verdict(" ".repeat(3 << 20), subject), {
    message: "the document: it has more than 2665536 bytes",
  });
});
