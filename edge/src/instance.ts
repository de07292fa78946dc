/**
 * Wraps an instance of addrspec.wasm, interface version 2 (wasm/ABI.md). The
 * module imports nothing, owns its buffers and serves one call at a time, so a
 * call writes the address, runs the check and copies the result.
 */

import type { Facts as Result } from "../package/index.d.ts";
import { FACT, ModuleFailure, REPORT_BYTES, readResult, type Views, WORD } from "./report.ts";

const ABI_MAJOR = 2;

/** The flags of a check: typo_suggestion is the corrected address, and the result has details. */
export const FULL_SUGGESTION = 1;
export const DETAILS = 2;
/** A result in bulk comes with its report. */
const REPORTS = 4;

export interface Facts {
  /** The result: an object of 16 fields as UTF-8 JSON. mx is null, or false without a host. */
  readonly json: Uint8Array<ArrayBuffer>;
  /** Where the address, a quoted string that starts at 9, ends in json. */
  readonly emailEnd: number;
  /** Where the values that a lookup decides are in json; the last is in the details, undefined without. */
  readonly mx: Place;
  readonly disposable: Place;
  readonly exchange: Place | undefined;
  /** The boolean facts that are true: a sum of values of FACT. */
  readonly set: number;
  /** The score, the role and the form, as word 1 of the report has them for a policy. */
  readonly more: number;
  /** The domain to look up, in A-label form; empty if there is none. */
  readonly host: string;
  /** Why the address is not valid, as a clause; null if it is. */
  readonly refusal: string | null;
}

export interface Place {
  readonly at: number;
  readonly length: number;
}

/** Reports whether the exchanges of the domain do not make it disposable: it is listed or misspelled. */
export function isClassed({ set }: Facts): boolean {
  return (set & (FACT.classed | FACT.typo)) !== 0;
}

/** What a policy decides about: facts, with FACT.disposable as the host knows it, and their address. */
export interface Subject extends Pick<Facts, "set" | "more" | "host"> {
  readonly address: string | Uint8Array;
  /** The names of the exchanges, "*" for those that are left out; missing if none is known. */
  readonly exchanges?: readonly string[];
}

/** What a host looked up for a verdict: a sum of these; 0 if nothing. */
export const FOUND = {
  lookedUp: 1, // the MX records
  mx: 2, // and there are some
  addressLookedUp: 4, // it is known whether mail goes to an address record
  addressRecord: 8, // and it does
} as const;

export interface Versions {
  readonly engine: string;
  readonly lists: string;
  readonly model: string;
}

/** Thrown when an address is longer than the module's input buffer (1 MiB). */
export class TooLong extends RangeError {
  constructor() {
    super("the address is longer than 1 MiB, which is the longest input");
  }
}

/** Thrown when the module refused a blob of lists; it still uses the previous ones. */
export class ListsRefused extends Error {}

/** Thrown when a document is no policy. The message is the place, ": ", and what is wrong. */
export class PolicyRefused extends Error {
  /** Such as "block.reasons[2]", or "line 3, column 7" if the document is no JSON. */
  readonly place: string;
  /** Of the place in the document, in bytes of UTF-8. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "PolicyRefused";
    this.place = message.split(": ", 1)[0] as string;
    this.offset = offset;
  }
}

function failure(call: string, returned: number): ModuleFailure {
  return new ModuleFailure(`addrspec_${call} returned ${returned}`);
}

/** The bytes of a length before an address in bulk, and of all that is before a result with its report. */
const LENGTH_BYTES = 4;
const RECORD_BYTES = 2 * LENGTH_BYTES + REPORT_BYTES;
/** How many bytes of addresses a call takes in bulk: more would leave a processor's cache. */
const BULK_BYTES = 16 * 1024;

/** The errors of addrspec_lists and addrspec_load_policy that leave the instance usable. */
const LISTS_DAMAGED = -4;
const LISTS_TOO_LARGE = -5;
const POLICY_WRONG = -7;

interface Exports {
  readonly memory: WebAssembly.Memory;
  addrspec_abi_version(): number;
  addrspec_in_ptr(): number;
  addrspec_in_cap(): number;
  addrspec_out_ptr(): number;
  addrspec_report_ptr(): number;
  addrspec_check(length: number, flags: number): number;
  addrspec_check_many(length: number, flags: number): number;
  addrspec_info(): number;
  addrspec_lists(length: number): number;
  addrspec_load_policy(length: number): number;
  addrspec_decide(policy: number, length: number): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Instance {
  readonly #exports: Exports;
  readonly #in: number;
  readonly #inCap: number;
  readonly #out: number;
  readonly #report: number;
  /** See #views. */
  #kept: Views | undefined;
  /** The policy that was used last, which the module does not evict, and its handle. */
  #policy: string | undefined;
  #handle = 0;

  constructor({ exports }: WebAssembly.Instance) {
    this.#exports = exports as unknown as Exports;
    const version = this.#exports.addrspec_abi_version() >>> 0;
    if (version >>> 16 !== ABI_MAJOR) {
      throw new ModuleFailure(
        `addrspec.wasm has interface version ${version >>> 16}.${version & 0xffff}, this host needs ${ABI_MAJOR}; `
          + "take both from one release",
      );
    }
    this.#in = this.#exports.addrspec_in_ptr() >>> 0;
    this.#inCap = this.#exports.addrspec_in_cap() >>> 0;
    this.#out = this.#exports.addrspec_out_ptr() >>> 0;
    this.#report = this.#exports.addrspec_report_ptr() >>> 0;
  }

  check(email: string | Uint8Array, flags: number): Facts {
    const n = this.#check(email, flags);
    const { word, text } = this.#words();
    const place = (w: number): Place => ({ at: word(w), length: word(w + 1) });
    return {
      json: this.#output(0, n).slice(),
      emailEnd: word(WORD.emailEnd),
      mx: place(WORD.mx),
      disposable: place(WORD.disposable),
      exchange: word(WORD.exchange + 1) > 0 ? place(WORD.exchange) : undefined,
      set: word(WORD.facts),
      more: word(WORD.more),
      host: text(WORD.host),
      refusal: (word(WORD.facts) & FACT.valid) !== 0 ? null : text(WORD.sentence),
    };
  }

  /** Returns the result for an address as an object. */
  result(email: string | Uint8Array, flags: number): Result {
    const n = this.#check(email, flags);
    return this.#read(email, flags, this.#report, this.#out, n);
  }

  /** Checks addresses from an index on, as many as one call takes, and returns their results. */
  results(emails: readonly (string | Uint8Array)[], from: number, flags: number): Result[] {
    const length = this.#writeSome(emails, from);
    if (length === 0) return [this.result(emails[from] as string | Uint8Array, flags)];
    const n = this.#exports.addrspec_check_many(length, flags | REPORTS);
    const results: Result[] = [];
    const { words } = this.#views();
    const end = this.#out + n;
    for (let at = this.#out; at < end; ) {
      const json = words.getUint32(at, true);
      const next = at + RECORD_BYTES + json + words.getUint32(at + LENGTH_BYTES, true);
      const email = emails[from + results.length];
      if (next > end || email === undefined) throw failure("check_many", n);
      results.push(this.#read(email, flags, at + 2 * LENGTH_BYTES, at + RECORD_BYTES, json));
      at = next;
    }
    if (results.length === 0) throw failure("check_many", n);
    return results;
  }

  /** Writes an address and checks it; returns the length of the JSON. */
  #check(email: string | Uint8Array, flags: number): number {
    const n = this.#exports.addrspec_check(this.#write(email), flags);
    if (n < 0) throw failure("check", n);
    return n;
  }

  #read(
    email: string | Uint8Array,
    flags: number,
    report: number,
    json: number,
    length: number,
  ): Result {
    return readResult(this.#views(), report, json, json + length, email, (flags & DETAILS) !== 0);
  }

  /** Returns the verdict of a policy, by its document, as UTF-8 JSON. */
  verdict(policy: string, subject: Subject, found: number): Uint8Array<ArrayBuffer> {
    if (policy !== this.#policy) {
      const document = encoder.encode(policy);
      this.#handle = this.#pass(document, (size) => this.#exports.addrspec_load_policy(size));
      this.#policy = policy;
    }
    const n = this.#exports.addrspec_decide(this.#handle, this.#writeSubject(subject, found));
    if (n <= LENGTH_BYTES) throw failure("decide", n);
    return this.#output(LENGTH_BYTES, n).slice();
  }

  /** Writes what a policy needs to the input buffer; returns the number of bytes. */
  #writeSubject({ set, more, host, address, exchanges = [] }: Subject, found: number): number {
    const { input, words } = this.#views();
    for (const [n, word] of [set, more, found].entries())
      words.setUint32(this.#in + 4 * n, word, true);
    let end = 12;
    const record = (text: string | Uint8Array) => {
      const written = put(text, input.subarray(end + LENGTH_BYTES));
      if (written === undefined) throw new TooLong();
      words.setUint32(this.#in + end, written, true);
      end += LENGTH_BYTES + written;
    };
    record(host);
    record((set & FACT.valid) !== 0 ? address : ""); // others may be too long
    const names = end + LENGTH_BYTES; // after the length of all
    end = names;
    for (const name of exchanges) record(name);
    words.setUint32(this.#in + names - LENGTH_BYTES, end - names, true);
    return end;
  }

  /** Passes bytes in pieces of the input buffer's size, then an empty one; returns its result. */
  #pass(bytes: Uint8Array, take: (length: number) => number): number {
    for (let at = 0; at < bytes.length; at += this.#inCap) {
      this.#requireTaken(take(this.#write(bytes.subarray(at, at + this.#inCap))));
    }
    return this.#requireTaken(take(0));
  }

  #requireTaken(code: number): number {
    if (code >= 0) return code;
    if (code === LISTS_TOO_LARGE) throw new ListsRefused("the lists are larger than 4 MiB");
    const { word, text } = this.#words();
    if (code === LISTS_DAMAGED) throw new ListsRefused(text(WORD.sentence));
    if (code === POLICY_WRONG) throw new PolicyRefused(text(WORD.sentence), word(WORD.offset));
    throw failure("lists or _load_policy", code);
  }

  versions(): Versions {
    const n = this.#exports.addrspec_info();
    return JSON.parse(decoder.decode(this.#output(0, n))) as Versions;
  }

  setLists(blob: Uint8Array): void {
    this.#pass(blob, (length) => this.#exports.addrspec_lists(length));
  }

  /** Writes the address to the input buffer; returns its length in bytes. */
  #write(email: string | Uint8Array): number {
    const written = put(email, this.#views().input);
    if (written === undefined) throw new TooLong();
    return written;
  }

  /**
   * Writes addresses to the input buffer, each after its length. Returns the number of
   * bytes; 0 if the first has no room for its length.
   */
  #writeSome(emails: readonly (string | Uint8Array)[], from: number): number {
    const { input, words } = this.#views();
    let end = 0;
    for (let n = from; n < emails.length && end < BULK_BYTES; n++) {
      const written = put(emails[n] as string | Uint8Array, input.subarray(end + LENGTH_BYTES));
      if (written === undefined) break;
      words.setUint32(this.#in + end, written, true);
      end += LENGTH_BYTES + written;
    }
    return end;
  }

  /** Returns views of the memory; when it grows, the old ones are detached and have no bytes. */
  #views(): Views {
    if (this.#kept === undefined || this.#kept.input.length === 0) {
      const { buffer } = this.#exports.memory;
      this.#kept = {
        bytes: new Uint8Array(buffer),
        words: new DataView(buffer),
        input: new Uint8Array(buffer, this.#in, this.#inCap),
      };
    }
    return this.#kept;
  }

  /** Returns the bytes of the output between two offsets, until the next call. */
  #output(start: number, end: number): Uint8Array<ArrayBuffer> {
    return this.#views().bytes.subarray(this.#out + start, this.#out + end);
  }

  /** Returns functions that read a word of the report, and a text of the output at a word's place. */
  #words() {
    const { words } = this.#views();
    const word = (n: number) => words.getUint32(this.#report + 4 * n, true);
    const text = (n: number) => decoder.decode(this.#output(word(n), word(n) + word(n + 1)));
    return { word, text };
  }
}

/** Writes an address to the start of room; returns its length, or undefined if it does not fit. */
function put(email: string | Uint8Array, room: Uint8Array): number | undefined {
  if (typeof email === "string") {
    const { read, written } = encoder.encodeInto(email, room);
    return read < email.length ? undefined : written;
  }
  if (email.length > room.length) return undefined;
  room.set(email);
  return email.length;
}
