import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { compileModule } from "./testing.ts";

/** A line of policies.jsonl (wasm/vectors/policy.go). */
interface Case {
  policy: string;
  error?: string;
  email: string;
  disposable: boolean;
  mx: boolean | null;
  address: boolean | null;
  verdict: unknown;
}

const lines = readFileSync(join(process.env.ADDRSPEC_VECTORS ?? "", "policies.jsonl"), "utf8")
  .trim()
  .split("\n");

interface Exports {
  memory: WebAssembly.Memory;
  addrspec_in_ptr(): number;
  addrspec_out_ptr(): number;
  addrspec_report_ptr(): number;
  addrspec_check(length: number, flags: number): number;
  addrspec_policy(slot: number, length: number): number;
  addrspec_verdict(slot: number, length: number): number;
}

/** The parts of the interface that a policy needs (wasm/ABI.md). */
class Host {
  readonly #exports = new WebAssembly.Instance(compileModule(), {}).exports as unknown as Exports;

  #write(bytes: Uint8Array): number {
    const { memory, addrspec_in_ptr } = this.#exports;
    new Uint8Array(memory.buffer).set(bytes, addrspec_in_ptr() >>> 0);
    return bytes.length;
  }

  #word(n: number): number {
    const { memory, addrspec_report_ptr } = this.#exports;
    return new DataView(memory.buffer).getUint32((addrspec_report_ptr() >>> 0) + 4 * n, true);
  }

  #output(at: number, length: number): Buffer {
    const { memory, addrspec_out_ptr } = this.#exports;
    return Buffer.from(new Uint8Array(memory.buffer, (addrspec_out_ptr() >>> 0) + at, length));
  }

  /** Loads a document, and returns the error or an empty string. */
  load(slot: number, document: string): string {
    const length = this.#write(Buffer.from(document));
    if (length > 0) assert.equal(this.#exports.addrspec_policy(slot, length), 0);
    const code = this.#exports.addrspec_policy(slot, 0);
    if (code === 0) return "";
    assert.equal(code, -7);
    return this.#output(this.#word(17), this.#word(18)).toString();
  }

  verdict(slot: number, { email, disposable, mx, address }: Case): string {
    assert.ok(this.#exports.addrspec_check(this.#write(Buffer.from(email)), 0) > 0);
    const host = this.#output(this.#word(9), this.#word(10));
    const record = Buffer.alloc(16 + host.length);
    record.writeUInt32LE((this.#word(0) | (disposable ? 1 << 5 : 0)) >>> 0, 0);
    record.writeUInt32LE(this.#word(1), 4);
    record.writeUInt32LE(found(mx) | (found(address) << 2), 8);
    record.writeUInt32LE(host.length, 12);
    host.copy(record, 16);
    const n = this.#exports.addrspec_verdict(slot, this.#write(record));
    assert.equal(this.#output(0, 4).readUInt32LE(0), n - 4);
    return this.#output(4, n - 4).toString();
  }
}

/** Two bits: whether something was looked up, and whether it is there. */
const found = (fact: boolean | null) => (fact === null ? 0 : fact ? 3 : 1);

test("The module gives every verdict of the vectors, byte for byte", () => {
  assert.ok(lines.length > 80);
  const host = new Host();
  for (const [n, line] of lines.entries()) {
    const want = JSON.parse(line) as Case;
    const slot = n % 16;
    assert.equal(host.load(slot, want.policy), want.error ?? "", line);
    if (want.error !== undefined) continue;
    assert.equal(host.verdict(slot, want), JSON.stringify(want.verdict), line);
  }
});
