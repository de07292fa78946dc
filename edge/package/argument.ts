/** Checks what callers pass, who may not use TypeScript. No message repeats an address. */

import { FOUND } from "../src/instance.ts";
import type { Address, Options } from "./index.d.ts";

/** The capacity of the module's input buffer (wasm/ABI.md, addrspec_in_cap). */
const MAX_BYTES = 1 << 20;
/** The most of the names of a domain's exchanges, which come in a message of DNS. */
const MAX_EXCHANGES = 64 << 10;

/** Returns an address, or throws an error that has the name of the argument. */
export function address(value: unknown, name: string): Address {
  if (typeof value !== "string" && !isBytes(value))
    throw wrong(name, "a string or a Uint8Array", value);
  // A unit of UTF-16 has at most three bytes in UTF-8, so most strings need no encoding.
  const isShort = typeof value !== "string" || 3 * value.length <= MAX_BYTES;
  if (value.length > MAX_BYTES || (!isShort && new TextEncoder().encode(value).length > MAX_BYTES))
    throw new RangeError(`${name} is longer than 1 MiB, which is the longest address`);
  return value;
}

/** Also a Uint8Array of another realm, such as that of Jest or of a frame. */
function isBytes(value: unknown): value is Uint8Array {
  const kind = Object.prototype.toString.call(value);
  return ArrayBuffer.isView(value) && kind === "[object Uint8Array]";
}

export function addresses(value: unknown): Address[] {
  if (typeof value !== "object" || value === null || !(Symbol.iterator in value))
    throw wrong("emails", "an array or another iterable of addresses", value);
  if (ArrayBuffer.isView(value))
    throw new TypeError("emails must be an array of addresses, not the bytes of one");
  return Array.from(value as Iterable<unknown>, (email, n) => address(email, `emails[${n}]`));
}

export function bytes(value: unknown, name: string): Uint8Array {
  if (isBytes(value)) return value;
  throw wrong(name, "a Uint8Array", value);
}

/** Returns the bytes of a module; V8 takes no DataView. */
export function source(value: unknown): ArrayBuffer | Uint8Array<ArrayBuffer> {
  if (value instanceof ArrayBuffer) return value;
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
  throw wrong("source", "bytes, a Response, a WebAssembly.Module or a URL", value);
}

/** Returns the options; unknown values are refused, for they are misspelled ones. */
export function options(value: unknown): Options {
  if (value === undefined) return {};
  const { typoSuggestion, details, ...others } = members(value, "options");
  for (const name of Object.keys(others)) {
    const member = /^\w{1,40}$/.test(name) ? `.${name}` : " has a member that"; // it may be an address
    throw new TypeError(`options${member} is not an option; there are typoSuggestion and details`);
  }
  if (typoSuggestion !== undefined && typoSuggestion !== "domain" && typoSuggestion !== "address") {
    throw new TypeError('options.typoSuggestion must be "domain" or "address"');
  }
  if (details !== undefined && typeof details !== "boolean")
    throw wrong("options.details", "a boolean", details);
  return value as Options;
}

export function policy(value: unknown): string {
  const isDocument = typeof value === "object" && value !== null && !Array.isArray(value);
  const text: unknown = isDocument ? JSON.stringify(value) : value;
  if (typeof text === "string") return text;
  throw wrong("policy", "an object or its JSON text", value);
}

/**
 * Returns what was looked up as a sum of FOUND, whether the exchanges are throw-away ones, and
 * their names.
 */
export function found(value: unknown): [found: number, disposable: boolean, exchanges: string[]] {
  if (value === undefined) return [0, false, []];
  const { mx, addressRecord, disposable, exchanges, ...others } = members(value, "found");
  if (Object.keys(others).length > 0)
    throw new TypeError(
      "found has another member than mx, addressRecord, disposable and exchanges",
    );
  const names = exchanges ?? [];
  if (!Array.isArray(names) || names.some((name) => typeof name !== "string"))
    throw wrong("found.exchanges", "an array of strings or null", exchanges);
  if (names.join(" ").length > MAX_EXCHANGES)
    throw new RangeError("found.exchanges is longer than 64 KiB");
  for (const [name, fact] of Object.entries({ mx, addressRecord, disposable }))
    if (fact !== undefined && fact !== null && typeof fact !== "boolean")
      throw wrong(`found.${name}`, "a boolean or null", fact);
  let word = 0;
  if (typeof mx === "boolean") word |= FOUND.lookedUp | (mx ? FOUND.mx : 0);
  if (typeof addressRecord === "boolean")
    word |= FOUND.addressLookedUp | (addressRecord ? FOUND.addressRecord : 0);
  return [word, disposable === true, names];
}

function members(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw wrong(name, "an object", value);
  return value as Record<string, unknown>;
}

function wrong(name: string, want: string, value: unknown): TypeError {
  const isNone = value === null || value === undefined;
  const other = typeof value === "object" ? "an object" : `a ${typeof value}`;
  const kind = isNone ? String(value) : Array.isArray(value) ? "an array" : other;
  return new TypeError(`${name} must be ${want}, not ${kind}`);
}
