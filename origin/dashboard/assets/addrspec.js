// Made from edge/package/dashboard.ts: node edge/build.mjs script - FILE
// @ts-nocheck

// src/report.ts
var ModuleFailure = class extends Error {
};
var WORD = {
  facts: 0,
  more: 1,
  emailEnd: 2,
  mx: 3,
  disposable: 5,
  exchange: 7,
  host: 9,
  offset: 12,
  sentence: 17
};
var REPORT_BYTES = 24 * 4;
var FACT = {
  valid: 1,
  alias: 2,
  ascii: 4,
  role: 8,
  // it is not null
  gibberish: 16,
  disposable: 32,
  public: 64,
  relay: 128,
  typo: 256,
  classed: 512
  // the lists have an entry for the domain, of any class
};
var ROLES = [
  null,
  "Admin",
  "Support",
  "Sales",
  "Marketing",
  "General",
  "NoReply",
  "Billing",
  "Legal",
  "IT",
  "HR"
];
var BEFORE_NORMALIZED = ',"valid":true,"normalized":"'.length;
var AFTER_SUGGESTION = '"}'.length;
var QUOTE = 34;
var decoder = new TextDecoder();
function readResult({ bytes: bytes2, words }, report, start, end, email, hasDetails) {
  const parsed = () => parseJSON(decoder.decode(bytes2.subarray(start, end)));
  if (hasDetails) return parsed();
  const word = (n) => words.getUint32(report + 4 * n, true);
  const set = word(WORD.facts);
  const more = word(WORD.more);
  const is = (fact) => (set & fact) !== 0;
  const isPlain = is(FACT.ascii) && typeof email === "string";
  const texts = isPlain && plainTexts(email, set, more, bytes2, start + word(WORD.emailEnd), end) || parsed();
  return {
    email: texts.email,
    valid: is(FACT.valid),
    normalized: texts.normalized,
    local_part: texts.local_part,
    alias: is(FACT.alias),
    ascii: is(FACT.ascii),
    role: texts.role,
    gibberish: is(FACT.gibberish),
    gibberish_score: (more & 127) / 100,
    domain: texts.domain,
    mx: word(WORD.host + 1) > 0 ? null : false,
    disposable: is(FACT.disposable),
    public: is(FACT.public),
    relay: is(FACT.relay),
    typo: is(FACT.typo),
    typo_suggestion: texts.typo_suggestion
  };
}
function plainTexts(email, set, more, bytes2, emailEnd, end) {
  const role = ROLES[more >> 8 & 15];
  if (role === void 0) return void 0;
  const isValid = (set & FACT.valid) !== 0;
  const normalized = isValid ? email.toLowerCase() : null;
  if (normalized !== null) {
    const at = emailEnd + BEFORE_NORMALIZED;
    if (bytes2[at + normalized.length] !== QUOTE) return void 0;
    for (let n = 0; n < normalized.length; n++)
      if (bytes2[at + n] !== normalized.charCodeAt(n)) return void 0;
  }
  const split = email.indexOf("@");
  const last = end - AFTER_SUGGESTION;
  const isTypo = (set & FACT.typo) !== 0;
  return {
    email,
    normalized,
    local_part: isValid ? email.slice(0, split) : null,
    role,
    domain: normalized === null ? null : normalized.slice(split + 1),
    typo_suggestion: isTypo ? decoder.decode(bytes2.subarray(bytes2.lastIndexOf(QUOTE, last - 1) + 1, last)) : null
  };
}
function parseJSON(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModuleFailure("the module did not return JSON");
  }
}

// src/instance.ts
var ABI_MAJOR = 2;
var FULL_SUGGESTION = 1;
var DETAILS = 2;
var REPORTS = 4;
var FOUND = {
  lookedUp: 1,
  // the MX records
  mx: 2,
  // and there are some
  addressLookedUp: 4,
  // it is known whether mail goes to an address record
  addressRecord: 8
  // and it does
};
var TooLong = class extends RangeError {
  constructor() {
    super("the address is longer than 1 MiB, which is the longest input");
  }
};
var ListsRefused = class extends Error {
};
var PolicyRefused = class extends Error {
  /** Such as "block.reasons[2]", or "line 3, column 7" if the document is no JSON. */
  place;
  /** Of the place in the document, in bytes of UTF-8. */
  offset;
  constructor(message, offset) {
    super(message);
    this.name = "PolicyRefused";
    this.place = message.split(": ", 1)[0];
    this.offset = offset;
  }
};
function failure(call, returned) {
  return new ModuleFailure(`addrspec_${call} returned ${returned}`);
}
var LENGTH_BYTES = 4;
var RECORD_BYTES = 2 * LENGTH_BYTES + REPORT_BYTES;
var BULK_BYTES = 16 * 1024;
var LISTS_DAMAGED = -4;
var LISTS_TOO_LARGE = -5;
var POLICY_WRONG = -7;
var encoder = new TextEncoder();
var decoder2 = new TextDecoder();
var Instance = class {
  #exports;
  #in;
  #inCap;
  #out;
  #report;
  /** See #views. */
  #kept;
  /** The policy that was used last, which the module does not evict, and its handle. */
  #policy;
  #handle = 0;
  constructor({ exports }) {
    this.#exports = exports;
    const version = this.#exports.addrspec_abi_version() >>> 0;
    if (version >>> 16 !== ABI_MAJOR) {
      throw new ModuleFailure(
        `addrspec.wasm has interface version ${version >>> 16}.${version & 65535}, this host needs ${ABI_MAJOR}; take both from one release`
      );
    }
    this.#in = this.#exports.addrspec_in_ptr() >>> 0;
    this.#inCap = this.#exports.addrspec_in_cap() >>> 0;
    this.#out = this.#exports.addrspec_out_ptr() >>> 0;
    this.#report = this.#exports.addrspec_report_ptr() >>> 0;
  }
  check(email, flags) {
    const n = this.#check(email, flags);
    const { word, text } = this.#words();
    const place = (w) => ({ at: word(w), length: word(w + 1) });
    return {
      json: this.#output(0, n).slice(),
      emailEnd: word(WORD.emailEnd),
      mx: place(WORD.mx),
      disposable: place(WORD.disposable),
      exchange: word(WORD.exchange + 1) > 0 ? place(WORD.exchange) : void 0,
      set: word(WORD.facts),
      more: word(WORD.more),
      host: text(WORD.host),
      refusal: (word(WORD.facts) & FACT.valid) !== 0 ? null : text(WORD.sentence)
    };
  }
  /** Returns the result for an address as an object. */
  result(email, flags) {
    const n = this.#check(email, flags);
    return this.#read(email, flags, this.#report, this.#out, n);
  }
  /** Checks addresses from an index on, as many as one call takes, and returns their results. */
  results(emails, from, flags) {
    const length = this.#writeSome(emails, from);
    if (length === 0) return [this.result(emails[from], flags)];
    const n = this.#exports.addrspec_check_many(length, flags | REPORTS);
    const results = [];
    const { words } = this.#views();
    const end = this.#out + n;
    for (let at = this.#out; at < end; ) {
      const json = words.getUint32(at, true);
      const next = at + RECORD_BYTES + json + words.getUint32(at + LENGTH_BYTES, true);
      const email = emails[from + results.length];
      if (next > end || email === void 0) throw failure("check_many", n);
      results.push(this.#read(email, flags, at + 2 * LENGTH_BYTES, at + RECORD_BYTES, json));
      at = next;
    }
    if (results.length === 0) throw failure("check_many", n);
    return results;
  }
  /** Writes an address and checks it; returns the length of the JSON. */
  #check(email, flags) {
    const n = this.#exports.addrspec_check(this.#write(email), flags);
    if (n < 0) throw failure("check", n);
    return n;
  }
  #read(email, flags, report, json, length) {
    return readResult(this.#views(), report, json, json + length, email, (flags & DETAILS) !== 0);
  }
  /** Returns the verdict of a policy, by its document, as UTF-8 JSON. */
  verdict(policy2, subject, found2) {
    if (policy2 !== this.#policy) {
      const document = encoder.encode(policy2);
      this.#handle = this.#pass(document, (size) => this.#exports.addrspec_load_policy(size));
      this.#policy = policy2;
    }
    const n = this.#exports.addrspec_decide(this.#handle, this.#writeSubject(subject, found2));
    if (n <= LENGTH_BYTES) throw failure("decide", n);
    return this.#output(LENGTH_BYTES, n).slice();
  }
  /** Writes what a policy needs to the input buffer; returns the number of bytes. */
  #writeSubject({ set, more, host, address: address2, exchanges = [] }, found2) {
    const { input, words } = this.#views();
    for (const [n, word] of [set, more, found2].entries())
      words.setUint32(this.#in + 4 * n, word, true);
    let end = 12;
    const record = (text) => {
      const written = put(text, input.subarray(end + LENGTH_BYTES));
      if (written === void 0) throw new TooLong();
      words.setUint32(this.#in + end, written, true);
      end += LENGTH_BYTES + written;
    };
    record(host);
    record((set & FACT.valid) !== 0 ? address2 : "");
    const names = end + LENGTH_BYTES;
    end = names;
    for (const name of exchanges) record(name);
    words.setUint32(this.#in + names - LENGTH_BYTES, end - names, true);
    return end;
  }
  /** Passes bytes in pieces of the input buffer's size, then an empty one; returns its result. */
  #pass(bytes2, take) {
    for (let at = 0; at < bytes2.length; at += this.#inCap) {
      this.#requireTaken(take(this.#write(bytes2.subarray(at, at + this.#inCap))));
    }
    return this.#requireTaken(take(0));
  }
  #requireTaken(code) {
    if (code >= 0) return code;
    if (code === LISTS_TOO_LARGE) throw new ListsRefused("the lists are larger than 4 MiB");
    const { word, text } = this.#words();
    if (code === LISTS_DAMAGED) throw new ListsRefused(text(WORD.sentence));
    if (code === POLICY_WRONG) throw new PolicyRefused(text(WORD.sentence), word(WORD.offset));
    throw failure("lists or _load_policy", code);
  }
  versions() {
    const n = this.#exports.addrspec_info();
    return JSON.parse(decoder2.decode(this.#output(0, n)));
  }
  setLists(blob) {
    this.#pass(blob, (length) => this.#exports.addrspec_lists(length));
  }
  /** Writes the address to the input buffer; returns its length in bytes. */
  #write(email) {
    const written = put(email, this.#views().input);
    if (written === void 0) throw new TooLong();
    return written;
  }
  /**
   * Writes addresses to the input buffer, each after its length. Returns the number of
   * bytes; 0 if the first has no room for its length.
   */
  #writeSome(emails, from) {
    const { input, words } = this.#views();
    let end = 0;
    for (let n = from; n < emails.length && end < BULK_BYTES; n++) {
      const written = put(emails[n], input.subarray(end + LENGTH_BYTES));
      if (written === void 0) break;
      words.setUint32(this.#in + end, written, true);
      end += LENGTH_BYTES + written;
    }
    return end;
  }
  /** Returns views of the memory; when it grows, the old ones are detached and have no bytes. */
  #views() {
    if (this.#kept === void 0 || this.#kept.input.length === 0) {
      const { buffer } = this.#exports.memory;
      this.#kept = {
        bytes: new Uint8Array(buffer),
        words: new DataView(buffer),
        input: new Uint8Array(buffer, this.#in, this.#inCap)
      };
    }
    return this.#kept;
  }
  /** Returns the bytes of the output between two offsets, until the next call. */
  #output(start, end) {
    return this.#views().bytes.subarray(this.#out + start, this.#out + end);
  }
  /** Returns functions that read a word of the report, and a text of the output at a word's place. */
  #words() {
    const { words } = this.#views();
    const word = (n) => words.getUint32(this.#report + 4 * n, true);
    const text = (n) => decoder2.decode(this.#output(word(n), word(n) + word(n + 1)));
    return { word, text };
  }
};
function put(email, room) {
  if (typeof email === "string") {
    const { read, written } = encoder.encodeInto(email, room);
    return read < email.length ? void 0 : written;
  }
  if (email.length > room.length) return void 0;
  room.set(email);
  return email.length;
}

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
  /** Returns the result for an address as an object, with details if flags say so. */
  result(email, flags) {
    return this.#call((instance) => instance.result(email, flags));
  }
  /** Returns the results for addresses in their order. */
  results(emails, flags) {
    const results = [];
    while (results.length < emails.length) {
      const some = this.#call((instance) => instance.results(emails, results.length, flags));
      results.push(...some);
    }
    return results;
  }
  /**
   * Returns the verdict of a policy as UTF-8 JSON; found is a sum of FOUND. Throws PolicyRefused
   * if the document is none.
   */
  verdict(policy2, subject, found2 = 0) {
    return this.#call((instance) => instance.verdict(policy2, subject, found2));
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
    if (this.#instance === void 0) {
      const instance = new Instance(new WebAssembly.Instance(this.#module, {}));
      if (this.#lists !== void 0) instance.setLists(this.#lists);
      this.#instance = instance;
    }
    try {
      return use(this.#instance);
    } catch (error) {
      const harmless = [TooLong, ListsRefused, PolicyRefused].some((kind) => error instanceof kind);
      if (!harmless) this.#instance = void 0;
      throw error;
    }
  }
};

// package/argument.ts
var MAX_BYTES = 1 << 20;
var MAX_EXCHANGES = 64 << 10;
function address(value, name) {
  if (typeof value !== "string" && !isBytes(value))
    throw wrong(name, "a string or a Uint8Array", value);
  const isShort = typeof value !== "string" || 3 * value.length <= MAX_BYTES;
  if (value.length > MAX_BYTES || !isShort && new TextEncoder().encode(value).length > MAX_BYTES)
    throw new RangeError(`${name} is longer than 1 MiB, which is the longest address`);
  return value;
}
function isBytes(value) {
  const kind = Object.prototype.toString.call(value);
  return ArrayBuffer.isView(value) && kind === "[object Uint8Array]";
}
function addresses(value) {
  if (typeof value !== "object" || value === null || !(Symbol.iterator in value))
    throw wrong("emails", "an array or another iterable of addresses", value);
  if (ArrayBuffer.isView(value))
    throw new TypeError("emails must be an array of addresses, not the bytes of one");
  return Array.from(value, (email, n) => address(email, `emails[${n}]`));
}
function bytes(value, name) {
  if (isBytes(value)) return value;
  throw wrong(name, "a Uint8Array", value);
}
function source(value) {
  if (value instanceof ArrayBuffer) return value;
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw wrong("source", "bytes, a Response, a WebAssembly.Module or a URL", value);
}
function options(value) {
  if (value === void 0) return {};
  const { typoSuggestion, details, ...others } = members(value, "options");
  for (const name of Object.keys(others)) {
    const member = /^\w{1,40}$/.test(name) ? `.${name}` : " has a member that";
    throw new TypeError(`options${member} is not an option; there are typoSuggestion and details`);
  }
  if (typoSuggestion !== void 0 && typoSuggestion !== "domain" && typoSuggestion !== "address") {
    throw new TypeError('options.typoSuggestion must be "domain" or "address"');
  }
  if (details !== void 0 && typeof details !== "boolean")
    throw wrong("options.details", "a boolean", details);
  return value;
}
function policy(value) {
  const isDocument = typeof value === "object" && value !== null && !Array.isArray(value);
  const text = isDocument ? JSON.stringify(value) : value;
  if (typeof text === "string") return text;
  throw wrong("policy", "an object or its JSON text", value);
}
function found(value) {
  if (value === void 0) return [0, false, []];
  const { mx, addressRecord, disposable, exchanges, ...others } = members(value, "found");
  if (Object.keys(others).length > 0)
    throw new TypeError(
      "found has another member than mx, addressRecord, disposable and exchanges"
    );
  const names = exchanges ?? [];
  if (!Array.isArray(names) || names.some((name) => typeof name !== "string"))
    throw wrong("found.exchanges", "an array of strings or null", exchanges);
  if (names.join(" ").length > MAX_EXCHANGES)
    throw new RangeError("found.exchanges is longer than 64 KiB");
  for (const [name, fact] of Object.entries({ mx, addressRecord, disposable }))
    if (fact !== void 0 && fact !== null && typeof fact !== "boolean")
      throw wrong(`found.${name}`, "a boolean or null", fact);
  let word = 0;
  if (typeof mx === "boolean") word |= FOUND.lookedUp | (mx ? FOUND.mx : 0);
  if (typeof addressRecord === "boolean")
    word |= FOUND.addressLookedUp | (addressRecord ? FOUND.addressRecord : 0);
  return [word, disposable === true, names];
}
function members(value, name) {
  if (typeof value !== "object" || value === null) throw wrong(name, "an object", value);
  return value;
}
function wrong(name, want, value) {
  const isNone = value === null || value === void 0;
  const other = typeof value === "object" ? "an object" : `a ${typeof value}`;
  const kind = isNone ? String(value) : Array.isArray(value) ? "an array" : other;
  return new TypeError(`${name} must be ${want}, not ${kind}`);
}

// package/library.ts
var decoder3 = new TextDecoder();
function library(fetchEngine, open) {
  let loading;
  const loadDefault = () => {
    loading ??= fetchEngine().then(checkerOf, (error) => {
      loading = void 0;
      throw error;
    });
    return loading;
  };
  let loaded;
  const check = async (email, options2) => {
    loaded ??= await loadDefault();
    return loaded.check(email, options2);
  };
  const checkMany = async (emails, options2) => (await loadDefault()).checkMany(emails, options2);
  return {
    load: async (source2) => source2 === void 0 ? loadDefault() : checkerOf(await engineOf(source2, open)),
    check,
    checkMany,
    explain: async (email) => (await loadDefault()).explain(email),
    verdict: async (email, policy2, found2) => (await loadDefault()).verdict(email, policy2, found2),
    verdictMany: async (emails, policy2) => (await loadDefault()).verdictMany(emails, policy2),
    setLists: async (blob) => (await loadDefault()).setLists(blob),
    PolicyRefused
  };
}
function checkerOf(engine) {
  const check = (email, options2) => engine.result(address(email, "email"), flagsOf(options2));
  return {
    check,
    checkMany: (emails, options2) => engine.results(addresses(emails), flagsOf(options2)),
    explain: (email) => check(email, { details: true }).details,
    verdict: (email, policy2, found2) => decide(engine, address(email, "email"), policy(policy2), found2),
    verdictMany: (emails, policy2) => {
      const document = policy(policy2);
      engine.verdict(document, NOBODY);
      return addresses(emails).map((email) => decide(engine, email, document));
    },
    versions: () => engine.versions(),
    setLists: (blob) => engine.setLists(bytes(blob, "blob").slice())
    // the caller may reuse its bytes
  };
}
var NOBODY = { set: 0, more: 0, host: "", address: "" };
function decide(engine, email, policy2, found2) {
  const [looked, disposable, exchanges] = found(found2);
  const facts = engine.check(email);
  const set = disposable ? facts.set | FACT.disposable : facts.set;
  const subject = { ...facts, set, address: email, exchanges };
  return parseJSON(decoder3.decode(engine.verdict(policy2, subject, looked)));
}
function flagsOf(options2) {
  const { typoSuggestion, details } = options(options2);
  return (typoSuggestion === "address" ? FULL_SUGGESTION : 0) | (details ? DETAILS : 0);
}
async function engineOf(source2, open = fetch) {
  if (source2 instanceof WebAssembly.Module)
    return new Engine(source2, await WebAssembly.instantiate(source2, {}));
  if (source2 instanceof URL) return engineOf(await open(source2), open);
  const isResponse = typeof Response === "function" && source2 instanceof Response;
  const { module, instance } = isResponse ? await compiled(source2) : await WebAssembly.instantiate(source(source2), {});
  return new Engine(module, instance);
}
async function compiled(response) {
  const type = response.headers.get("Content-Type") ?? "";
  const isPage = type.startsWith("text/html");
  if (!response.ok || isPage) {
    throw new Error(
      `the server sent ${response.ok ? "a page" : `status ${response.status}`} in place of addrspec.wasm; copy node_modules/addrspec/lib/addrspec.wasm beside your script, or call load with a source`
    );
  }
  if (type === "application/wasm") return WebAssembly.instantiateStreaming(response, {});
  const bytes2 = await response.arrayBuffer();
  return WebAssembly.instantiate(bytes2, {});
}

// package/dashboard.ts
function load(url) {
  return library(() => engineOf(new URL(url))).load();
}
export {
  load
};
