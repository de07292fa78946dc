/**
 * Wraps an instance of addrspec.wasm, interface version 2 (wasm/ABI.md). The
 * module imports nothing, owns its buffers and serves one call at a time, so a
 * call writes the address, runs the check and copies the result.
 */

const ABI_MAJOR = 2;

/** The flags of a check: typo_suggestion is the corrected address, and the result has details. */
export const FULL_SUGGESTION = 1;
export const DETAILS = 2;

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

/** The bits of the boolean facts. */
export const FACT = {
  valid: 1,
  alias: 2,
  ascii: 4,
  role: 8, // it is not null
  gibberish: 16,
  disposable: 32,
  public: 64,
  relay: 128,
  typo: 256,
  classed: 512, // the lists have an entry for the domain, of any class
} as const;

/** Reports whether the exchanges of the domain do not make it disposable: it is listed or misspelled. */
export function isClassed({ set }: Facts): boolean {
  return (set & (FACT.classed | FACT.typo)) !== 0;
}

/** What a policy decides about: facts, with FACT.disposable as the host knows it. */
export type Subject = Pick<Facts, "set" | "more" | "host">;

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

/** Thrown when the module failed; its instance must not be used again. */
export class ModuleFailure extends Error {}

function failure(call: string, returned: number): ModuleFailure {
  return new ModuleFailure(`addrspec_${call} returned ${returned}`);
}

/** The indexes of the report's 32-bit words. A place has two: its start in the output and length. */
const WORD = {
  facts: 0,
  more: 1,
  emailEnd: 2,
  mx: 3,
  disposable: 5,
  exchange: 7,
  host: 9,
  offset: 12,
  sentence: 17,
} as const;
const REPORT_BYTES = 24 * 4;

/** The bytes of a length before an address and before a result in bulk. */
const LENGTH_BYTES = 4;
/** How many bytes of addresses a call takes in bulk: more would leave a processor's cache. */
const BULK_BYTES = 16 * 1024;

/** The errors of addrspec_lists and addrspec_load_policy that leave the instance usable. */
const LISTS_DAMAGED = -4;
const LISTS_TOO_LARGE = -5;
const POLICY_WRONG = -7;

/** The bytes of a verdict's subject before its host. */
const SUBJECT_BYTES = 16;

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
  addrspec_verdict(policy: number, length: number): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Instance {
  readonly #exports: Exports;
  readonly #in: number;
  readonly #inCap: number;
  readonly #out: number;
  readonly #report: number;
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
    const n = this.#exports.addrspec_check(this.#write(email), flags);
    if (n < 0) throw failure("check", n);
    const { word, text } = this.#words();
    const place = (w: number): Place => ({ at: word(w), length: word(w + 1) });
    return {
      json: this.#bytes(this.#out, n).slice(),
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

  /**
   * Checks addresses from an index on, as many as one call takes, and returns their
   * results as the text of a JSON array.
   */
  checkSome(emails: readonly (string | Uint8Array)[], from: number, flags: number): string {
    const length = this.#writeSome(emails, from);
    if (length === 0) {
      const { json } = this.check(emails[from] as string | Uint8Array, flags);
      return `[${decoder.decode(json)}]`;
    }
    const n = this.#exports.addrspec_check_many(length, flags);
    if (n <= 0) throw failure("check_many", n);
    return `[${decoder.decode(withCommas(this.#bytes(this.#out, n).slice()))}]`;
  }

  /** Returns the verdict of a policy, by its document, as UTF-8 JSON. */
  verdict(policy: string, { set, more, host }: Subject, found: number): Uint8Array<ArrayBuffer> {
    if (policy !== this.#policy) {
      const document = encoder.encode(policy);
      this.#handle = this.#pass(document, (size) => this.#exports.addrspec_load_policy(size));
      this.#policy = policy;
    }
    const buffer = this.#bytes(this.#in, this.#inCap);
    const length = put(host, buffer.subarray(SUBJECT_BYTES)) ?? 0; // 253 bytes at most
    const view = new DataView(buffer.buffer, buffer.byteOffset);
    for (const [n, word] of [set, more, found, length].entries()) view.setUint32(4 * n, word, true);
    const n = this.#exports.addrspec_verdict(this.#handle, SUBJECT_BYTES + length);
    if (n <= LENGTH_BYTES) throw failure("verdict", n);
    return this.#bytes(this.#out + LENGTH_BYTES, n - LENGTH_BYTES).slice();
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
    return JSON.parse(
      decoder.decode(this.#bytes(this.#out, this.#exports.addrspec_info())),
    ) as Versions;
  }

  setLists(blob: Uint8Array): void {
    this.#pass(blob, (length) => this.#exports.addrspec_lists(length));
  }

  /** Writes the address to the input buffer; returns its length in bytes. */
  #write(email: string | Uint8Array): number {
    const written = put(email, this.#bytes(this.#in, this.#inCap));
    if (written === undefined) throw new TooLong();
    return written;
  }

  /**
   * Writes addresses to the input buffer, each after its length. Returns the number of
   * bytes; 0 if the first has no room for its length.
   */
  #writeSome(emails: readonly (string | Uint8Array)[], from: number): number {
    const buffer = this.#bytes(this.#in, this.#inCap);
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    let end = 0;
    for (let n = from; n < emails.length && end < BULK_BYTES; n++) {
      const room = buffer.subarray(end + LENGTH_BYTES);
      const written = put(emails[n] as string | Uint8Array, room);
      if (written === undefined) break;
      view.setUint32(end, written, true);
      end += LENGTH_BYTES + written;
    }
    return end;
  }

  /** Makes a new view for each use, because old views are detached when the memory grows. */
  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, at, length);
  }

  /** Returns functions that read a word of the report, and a text of the output at a word's place. */
  #words() {
    const view = new DataView(this.#exports.memory.buffer, this.#report, REPORT_BYTES);
    const word = (n: number) => view.getUint32(4 * n, true);
    const text = (n: number) => decoder.decode(this.#bytes(this.#out + word(n), word(n + 1)));
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

/**
 * Turns records, each a length and a JSON, into the inside of one JSON array: a comma
 * and white space take the place of a length. So one call decodes and one parses all.
 */
function withCommas(records: Uint8Array): Uint8Array {
  const view = new DataView(records.buffer, records.byteOffset, records.length);
  for (let at = 0; at < records.length; ) {
    const length = view.getUint32(at, true);
    records.fill(SPACE, at, at + LENGTH_BYTES);
    if (at > 0) records[at] = COMMA;
    at += LENGTH_BYTES + length;
  }
  return records;
}

const SPACE = 0x20;
const COMMA = 0x2c;
