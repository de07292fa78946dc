// Checks email addresses with addrspec.wasm in JavaScript. The class Checker
// runs as it is in Node, Deno, Bun, workers and browsers; below it stands a
// command for the first three:
//
//     node addrspec.mjs addrspec.wasm [-0] [ADDRESS…]
//
// It answers each address, its arguments or the lines of standard input, with a
// line of JSON. With -0, addresses in the input end with a zero octet instead.
// The interface it speaks is wasm/ABI.md.
import { readFileSync } from "node:fs";
import process from "node:process";

const ABI_MAJOR = 1;

/** What typo_suggestion holds: the domain by default. */
export const FULL_SUGGESTION = 1;

/** A compiled module and one instance of it. */
export class Checker {
  #module;
  #exports;

  /** @param {WebAssembly.Module} module compiled once, for any number of checkers */
  constructor(module) {
    this.#module = module;
    this.#start();
  }

  // The module imports nothing. An i32 comes signed: >>> 0 makes it unsigned.
  #start() {
    this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
    const version = this.#exports.addrspec_abi_version() >>> 0;
    if (version >>> 16 !== ABI_MAJOR) {
      throw new Error(`addrspec.wasm has interface version ${version >>> 16}, not ${ABI_MAJOR}`);
    }
  }

  /**
   * Checks one address.
   * @param {Uint8Array} address in octets as it came; a string goes through TextEncoder
   * @param {number} flags 0 or FULL_SUGGESTION
   * @returns {Uint8Array} one JSON object
   */
  check(address, flags = 0) {
    const wasm = this.#exports;
    if (address.length > wasm.addrspec_in_cap() >>> 0) {
      throw new RangeError("the address is longer than the module takes");
    }
    try {
      // A new view each time: a call may grow the memory, which ends old views.
      new Uint8Array(wasm.memory.buffer, wasm.addrspec_in_ptr() >>> 0).set(address);
      const length = wasm.addrspec_check(address.length, flags);
      if (length < 0) throw new Error(`addrspec.wasm answered ${length}`);
      return new Uint8Array(wasm.memory.buffer, wasm.addrspec_out_ptr() >>> 0, length).slice(); // a copy
    } catch (error) {
      this.#start(); // what threw is not to be used again
      throw error;
    }
  }
}

/** Cuts a stream of octets where `end` stands. */
async function* split(stream, end) {
  let rest = new Uint8Array(0);
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, from)) {
      yield rest.length === 0
        ? chunk.subarray(from, at)
        : Buffer.concat([rest, chunk.subarray(from, at)]);
      rest = new Uint8Array(0);
      from = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  yield rest;
}

async function main([file, ...args]) {
  const checker = new Checker(new WebAssembly.Module(readFileSync(file)));
  const zero = args[0] === "-0";
  if (zero) args.shift();
  const addresses =
    args.length > 0
      ? args.map((a) => new TextEncoder().encode(a))
      : split(process.stdin, zero ? 0 : 10);
  for await (let address of addresses) {
    if (!zero && address.at(-1) === 13) address = address.subarray(0, -1); // CR LF
    if (address.length === 0) continue;
    const answer = Buffer.concat([checker.check(address), Buffer.from("\n")]);
    if (!process.stdout.write(answer))
      await new Promise((resume) => process.stdout.once("drain", resume));
  }
}

if (import.meta.filename === process.argv[1] || import.meta.main) await main(process.argv.slice(2));
