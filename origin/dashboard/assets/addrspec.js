// Made from edge/package/dashboard.ts: node edge/build.mjs script - FILE
// @ts-nocheck

// src/instance.ts
var ABI_MAJOR = 1;
var FULL_SUGGESTION = 1;
var DETAILS = 2;
var TooLong = class extends Error {
};
var ListsRefused = class extends Error {
};
var ModuleFailure = class extends Error {
};
var WORD = {
  valid: 0,
  emailEnd: 1,
  mxAt: 2,
  host: 3,
  offset: 6,
  code: 7,
  section: 9,
  sentence: 11
};
var REPORT_BYTES = 13 * 4;
var LISTS_DAMAGED = -4;
var LISTS_TOO_LARGE = -5;
var encoder = new TextEncoder();
var decoder = new TextDecoder();
var Instance = class {
  #exports;
  #in;
  #inCap;
  #out;
  #report;
  constructor({ exports }) {
    this.#exports = exports;
    const version = this.#exports.addrspec_abi_version() >>> 0;
    if (version >>> 16 !== ABI_MAJOR) {
      throw new ModuleFailure(
        `addrspec.wasm has interface version ${version >>> 16}, this host needs ${ABI_MAJOR}; take both from one release`
      );
    }
    this.#in = this.#exports.addrspec_in_ptr() >>> 0;
    this.#inCap = this.#exports.addrspec_in_cap() >>> 0;
    this.#out = this.#exports.addrspec_out_ptr() >>> 0;
    this.#report = this.#exports.addrspec_report_ptr() >>> 0;
  }
  /** Checks an address; given as bytes where it may not be UTF-8. */
  check(email, flags) {
    const n = this.#exports.addrspec_check(this.#write(email), flags);
    if (n < 0) throw new ModuleFailure(`addrspec_check returned ${n}`);
    const word = this.#words();
    const text = (w) => this.#text(word, w);
    return {
      json: this.#bytes(this.#out, n).slice(),
      emailEnd: word(WORD.emailEnd),
      mxAt: word(WORD.mxAt),
      host: text(WORD.host),
      refusal: word(WORD.valid) === 1 ? null : {
        code: text(WORD.code),
        section: text(WORD.section),
        sentence: text(WORD.sentence),
        offset: word(WORD.offset)
      }
    };
  }
  versions() {
    return JSON.parse(
      decoder.decode(this.#bytes(this.#out, this.#exports.addrspec_info()))
    );
  }
  /** Replaces the lists by a blob, which is passed in pieces of the input buffer's size. */
  setLists(blob) {
    for (let at = 0; at < blob.length; at += this.#inCap) {
      const piece = blob.subarray(at, at + this.#inCap);
      this.#bytes(this.#in, piece.length).set(piece);
      this.#requireTaken(this.#exports.addrspec_lists(piece.length));
    }
    this.#requireTaken(this.#exports.addrspec_lists(0));
  }
  #requireTaken(code) {
    if (code === LISTS_TOO_LARGE) throw new ListsRefused("the lists are larger than 4 MiB");
    if (code === LISTS_DAMAGED) throw new ListsRefused(this.#text(this.#words(), WORD.sentence));
    if (code < 0) throw new ModuleFailure(`addrspec_lists returned ${code}`);
  }
  /** Writes the address to the input buffer; returns its length in bytes. */
  #write(email) {
    const buffer = this.#bytes(this.#in, this.#inCap);
    if (typeof email !== "string") {
      if (email.length > buffer.length) throw new TooLong();
      buffer.set(email);
      return email.length;
    }
    const { read, written } = encoder.encodeInto(email, buffer);
    if (read < email.length) throw new TooLong();
    return written;
  }
  /** Makes a new view for each use: when the memory grows, old views are detached. */
  #bytes(at, length) {
    return new Uint8Array(this.#exports.memory.buffer, at, length);
  }
  /** Returns a text of the report, which is in the output. */
  #text(word, w) {
    return decoder.decode(this.#bytes(this.#out + word(w), word(w + 1)));
  }
  /** Returns a function that reads a word of the report. */
  #words() {
    const view = new DataView(this.#exports.memory.buffer, this.#report, REPORT_BYTES);
    return (n) => view.getUint32(4 * n, true);
  }
};

// src/engine.ts
var Engine = class {
  #module;
  #instance;
  /** The lists in use, for the next instance; undefined for those in the module. */
  #lists;
  /** Takes the first instance from a caller that can only create it asynchronously. */
  constructor(module, first = new WebAssembly.Instance(module, {})) {
    this.#module = module;
    this.#instance = new Instance(first);
  }
  check(email, flags = 0) {
    return this.#call((instance) => instance.check(email, flags));
  }
  versions() {
    return this.#call((instance) => instance.versions());
  }
  /**
   * Replaces the lists by a blob, which the caller must not change afterwards. It
   * takes effect at once: a call of check sees either lists. Throws ListsRefused,
   * and keeps the lists, if the module does not accept the blob.
   */
  setLists(blob) {
    this.#call((instance) => instance.setLists(blob));
    this.#lists = blob;
  }
  #call(use) {
    this.#instance ??= this.#start();
    try {
      return use(this.#instance);
    } catch (error) {
      const harmless = error instanceof TooLong || error instanceof ListsRefused;
      if (!harmless) this.#instance = void 0;
      throw error;
    }
  }
  #start() {
    const instance = new Instance(new WebAssembly.Instance(this.#module, {}));
    if (this.#lists !== void 0) instance.setLists(this.#lists);
    return instance;
  }
};

// package/fetch.ts
async function fetchEngine(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`addrspec.wasm: status ${response.status}`);
  const { module, instance } = await instantiate(response);
  return new Engine(module, instance);
}
async function instantiate(response) {
  if (response.headers.get("Content-Type") === "application/wasm") {
    return WebAssembly.instantiateStreaming(response, {});
  }
  return WebAssembly.instantiate(await response.arrayBuffer(), {});
}

// package/library.ts
var decoder2 = new TextDecoder();
function library(fetchEngine2) {
  let loading;
  const load2 = () => {
    loading ??= fetchEngine2().then(checkerOf, (error) => {
      loading = void 0;
      throw error;
    });
    return loading;
  };
  return {
    load: load2,
    check: (async (email, options) => (await load2()).check(email, options)),
    explain: async (email) => (await load2()).explain(email),
    setLists: async (blob) => (await load2()).setLists(blob)
  };
}
function checkerOf(engine) {
  const check = (email, { typoSuggestion, details } = {}) => {
    const suggestion = typoSuggestion === "address" ? FULL_SUGGESTION : 0;
    const { json } = engine.check(email, suggestion | (details ? DETAILS : 0));
    return JSON.parse(decoder2.decode(json));
  };
  return {
    check,
    explain: (email) => check(email, { details: true }).details,
    versions: () => engine.versions(),
    setLists: (blob) => engine.setLists(blob.slice())
    // the caller may reuse its bytes
  };
}

// package/dashboard.ts
function load(url) {
  return library(() => fetchEngine(new URL(url))).load();
}
export {
  load
};
