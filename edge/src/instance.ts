/**
 * One instance of addrspec.wasm behind its interface, version 1 (wasm/ABI.md).
 * The module imports nothing, holds its own buffers and serves one call at a
 * time, so a call is: write the address, check, copy the answer out.
 */

const ABI_MAJOR = 1;

/** Makes typo_suggestion the whole corrected address instead of its domain. */
export const FULL_SUGGESTION = 1;

/** What the module says about one address. */
export interface Finding {
  /** The object of 16 fields as UTF-8 JSON, mx false. */
  readonly json: Uint8Array;
  /** Where in json the address ends, a quoted string that starts at 9. */
  readonly emailEnd: number;
  /** Where in json the mx value is, the five bytes `false`. */
  readonly mxAt: number;
  /** The domain to ask for MX, as A-labels; empty where there is none to ask. */
  readonly host: string;
  /** Why the address is not valid; null for one that is. */
  readonly refusal: Refusal | null;
}

/** Why an address is not valid. */
export interface Refusal {
  /** Stable, such as "local_part_too_long". */
  readonly code: string;
  /** The norm it rests on, such as "RFC 5321 section 4.5.3.1.1". */
  readonly section: string;
  /** What is wrong and how to mend it. */
  readonly sentence: string;
  /** The offending byte of the address, counted from 0. */
  readonly offset: number;
}

/** Which versions answer. */
export interface Versions {
  readonly engine: string;
  readonly lists: string;
  readonly model: string;
}

/** The address is longer than the module's input buffer (1 MiB). */
export class TooLong extends Error {}

/** The module failed; its instance must not be used again. */
export class ModuleFailure extends Error {}

/** The words of the report, 32 bits each; a text is a place and a length. */
const WORD = {
  valid: 0,
  emailEnd: 1,
  mxAt: 2,
  host: 3,
  offset: 6,
  code: 7,
  section: 9,
  sentence: 11,
} as const;
const REPORT_BYTES = 13 * 4;

interface Exports {
  readonly memory: WebAssembly.Memory;
  addrspec_abi_version(): number;
  addrspec_in_ptr(): number;
  addrspec_in_cap(): number;
  addrspec_out_ptr(): number;
  addrspec_report_ptr(): number;
  addrspec_check(length: number, flags: number): number;
  addrspec_info(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Instance {
  readonly #exports: Exports;
  readonly #in: number;
  readonly #inCap: number;
  readonly #out: number;
  readonly #report: number;

  constructor({ exports }: WebAssembly.Instance) {
    this.#exports = exports as unknown as Exports;
    const version = this.#exports.addrspec_abi_version() >>> 0;
    if (version >>> 16 !== ABI_MAJOR) {
      throw new ModuleFailure(
        `addrspec.wasm speaks interface ${version >>> 16}, this host speaks ${ABI_MAJOR}; take both from one release`,
      );
    }
    this.#in = this.#exports.addrspec_in_ptr() >>> 0;
    this.#inCap = this.#exports.addrspec_in_cap() >>> 0;
    this.#out = this.#exports.addrspec_out_ptr() >>> 0;
    this.#report = this.#exports.addrspec_report_ptr() >>> 0;
  }

  /** The facts about email; given as bytes where it may not be UTF-8. */
  check(email: string | Uint8Array, flags: number): Finding {
    const n = this.#exports.addrspec_check(this.#write(email), flags);
    if (n < 0) throw new ModuleFailure(`addrspec_check answered ${n}`);
    const word = this.#words();
    const text = (w: number) => decoder.decode(this.#bytes(this.#out + word(w), word(w + 1)));
    return {
      json: this.#bytes(this.#out, n).slice(),
      emailEnd: word(WORD.emailEnd),
      mxAt: word(WORD.mxAt),
      host: text(WORD.host),
      refusal:
        word(WORD.valid) === 1
          ? null
          : {
              code: text(WORD.code),
              section: text(WORD.section),
              sentence: text(WORD.sentence),
              offset: word(WORD.offset),
            },
    };
  }

  versions(): Versions {
    return JSON.parse(
      decoder.decode(this.#bytes(this.#out, this.#exports.addrspec_info())),
    ) as Versions;
  }

  #write(email: string | Uint8Array): number {
    const room = this.#bytes(this.#in, this.#inCap);
    if (typeof email !== "string") {
      if (email.length > room.length) throw new TooLong();
      room.set(email);
      return email.length;
    }
    const { read, written } = encoder.encodeInto(email, room);
    if (read < email.length) throw new TooLong();
    return written;
  }

  /** A fresh view each time: memory that grew leaves old views without any. */
  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, at, length);
  }

  #words(): (n: number) => number {
    const view = new DataView(this.#exports.memory.buffer, this.#report, REPORT_BYTES);
    return (n) => view.getUint32(4 * n, true);
  }
}
