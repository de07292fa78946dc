// Checks email addresses with addrspec.wasm in JavaScript. The class Checker runs
// in Node, Deno, Bun, workers and browsers; the command below it in the first
// three:
//
//     node addrspec.mjs addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS…]
//
// It prints one line of JSON for each address: its arguments or, without any, the
// lines of standard input. With -0, addresses in the input end with a zero byte
// instead; with -d, results have the member details; with -l, the lists are those of a
// newer lists.blob, whose signature minisign verifies. wasm/ABI.md specifies the interface.
import { readFileSync } from "node:fs";
import process from "node:process";

const ABI_MAJOR = 1;

/** Flag: typo_suggestion is the whole corrected address, not its domain. */
export const FULL_SUGGESTION = 1;
/** Flag: the result has one more member, details: the evidence for it (interface 1.1). */
export const DETAILS = 2;

/** Thrown when the module refused a blob of lists; it still uses the previous ones. */
export class ListsRefused extends Error {}

/** A compiled module and one instance of it. */
export class Checker {
  #module;
  #exports;
  #lists;

  /** @param {WebAssembly.Module} module may be shared by any number of checkers */
  constructor(module) {
    this.#module = module;
    this.#start();
  }

  // The module has no imports. An i32 is signed; >>> 0 converts it to unsigned.
  #start() {
    this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
    const version = this.#exports.addrspec_abi_version() >>> 0;
    if (version >>> 16 !== ABI_MAJOR) {
      throw new Error(`addrspec.wasm has interface version ${version >>> 16}, not ${ABI_MAJOR}`);
    }
    if (this.#lists !== undefined) this.#install(this.#lists);
  }

  /**
   * Checks one address.
   * @param {Uint8Array} address unchanged bytes; encode a string with TextEncoder
   * @param {number} flags the sum of FULL_SUGGESTION and DETAILS, or 0
   * @returns {Uint8Array} the result, a JSON object
   */
  check(address, flags = 0) {
    const wasm = this.#exports;
    if (address.length > wasm.addrspec_in_cap() >>> 0) {
      throw new RangeError("the address is longer than the input buffer");
    }
    try {
      // Always a new view: a call may grow the memory, which detaches old views.
      new Uint8Array(wasm.memory.buffer, wasm.addrspec_in_ptr() >>> 0).set(address);
      const length = wasm.addrspec_check(address.length, flags);
      if (length < 0) throw new Error(`addrspec_check returned ${length}`);
      const out = wasm.addrspec_out_ptr() >>> 0;
      return new Uint8Array(wasm.memory.buffer, out, length).slice(); // a copy
    } catch (error) {
      this.#start(); // discard the instance that failed
      throw error;
    }
  }

  /**
   * Replaces the lists. Throws ListsRefused, and keeps them, if the module refuses the blob.
   * @param {Uint8Array} blob the bytes of lists.blob, which must not change afterwards
   */
  setLists(blob) {
    try {
      this.#install(blob);
      this.#lists = blob; // also of the next instance
    } catch (error) {
      if (!(error instanceof ListsRefused)) this.#start(); // discard the instance that failed
      throw error;
    }
  }

  #install(blob) {
    const wasm = this.#exports;
    const capacity = wasm.addrspec_in_cap() >>> 0;
    for (let at = 0; at < blob.length; at += capacity) {
      const piece = blob.subarray(at, at + capacity);
      new Uint8Array(wasm.memory.buffer, wasm.addrspec_in_ptr() >>> 0).set(piece);
      this.#take(piece.length);
    }
    this.#take(0);
  }

  /** Passes a piece of lists from the input; 0 installs them. */
  #take(length) {
    const wasm = this.#exports;
    const code = wasm.addrspec_lists(length);
    if (code === -4) {
      const report = new DataView(wasm.memory.buffer, wasm.addrspec_report_ptr() >>> 0);
      const [at, size] = [report.getUint32(44, true), report.getUint32(48, true)]; // the sentence
      const out = wasm.addrspec_out_ptr() >>> 0;
      const sentence = new Uint8Array(wasm.memory.buffer, out + at, size);
      throw new ListsRefused(new TextDecoder().decode(sentence));
    }
    if (code === -5) throw new ListsRefused("the lists are larger than 4 MiB");
    if (code < 0) throw new Error(`addrspec_lists returned ${code}`);
  }
}

/** Splits a byte stream at each byte `end`. */
async function* split(stream, end) {
  let rest = new Uint8Array(0);
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, from)) {
      const part = chunk.subarray(from, at);
      yield rest.length === 0 ? part : Buffer.concat([rest, part]);
      rest = new Uint8Array(0);
      from = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  yield rest;
}

async function main([file, ...args]) {
  const checker = new Checker(new WebAssembly.Module(readFileSync(file)));
  let zero = false;
  let flags = 0;
  while (["-0", "-d", "-l"].includes(args[0])) {
    const option = args.shift();
    if (option === "-0") zero = true;
    else if (option === "-d") flags |= DETAILS;
    else checker.setLists(readFileSync(args.shift()));
  }
  const given = args.map((address) => new TextEncoder().encode(address));
  const addresses = given.length > 0 ? given : split(process.stdin, zero ? 0 : 10);
  for await (let address of addresses) {
    if (!zero && address.at(-1) === 13) address = address.subarray(0, -1); // CR LF
    if (address.length === 0) continue;
    const line = Buffer.concat([checker.check(address, flags), Buffer.from("\n")]);
    if (process.stdout.write(line)) continue;
    await new Promise((resume) => process.stdout.once("drain", resume));
  }
}

if (import.meta.filename === process.argv[1] || import.meta.main) {
  await main(process.argv.slice(2));
}
