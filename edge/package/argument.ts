/** Checks what callers pass, who may not use TypeScript. No message repeats an address. */

import { FOUND } from "../src/instance.ts";
import type { Address, Options } from "./index.d.ts";

/** The capacity of the module's input buffer (wasm/ABI.md, addrspec_in_cap). */
const MAX_BYTES = 1 << 20;
/** The most bytes of UTF-8 for a unit of UTF-16. */
const MAX_UNIT = 3;

/** Returns an address, or throws an error that has the name of the argument. */
export function address(value: unknown, name: string): Address {
  if (typeof value !== "string" && !isBytes(value))
    throw wrong(name, "a string or a Uint8Array", value);
  if (size(value) > MAX_BYTES)
    throw new RangeError(`${name} is longer than 1 MiB, which is the longest address`);
  return value;
}

/** Returns the bytes of an address in UTF-8, or more than MAX_BYTES; encodes it only if need be. */
function size(value: Address): number {
  if (value.length > MAX_BYTES || typeof value !== "string") return value.length;
  const most = MAX_UNIT * value.length;
  return most <= MAX_BYTES ? most : new TextEncoder().encode(value).length;
}

/** Also a Uint8Array of another realm, such as that of Jest or of a frame. */
function isBytes(value: unknown): value is Uint8Array {
  return (
    value instanceof Uint8Array
    || (ArrayBuffer.isView(value)
      && Object.prototype.toString.call(value) === "[object Uint8Array]")
  );
}

/** Returns the addresses as an array. */
export function addresses(value: unknown): Address[] {
  if (
    typeof value === "string"
    || typeof value !== "object"
    || value === null
    || !(Symbol.iterator in value)
  ) {
    throw wrong("emails", "an array or another iterable of addresses", value);
  }
  if (ArrayBuffer.isView(value))
    throw new TypeError("emails must be an array of addresses, not the bytes of one");
  return Array.from(value as Iterable<unknown>, (email, n) => address(email, `emails[${n}]`));
}

export function bytes(value: unknown, name: string): Uint8Array {
  if (isBytes(value)) return value;
  throw wrong(name, "a Uint8Array", value);
}

/** Returns the options; unknown values are refused, for they are misspelled ones. */
export function options(value: unknown): Options {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw wrong("options", "an object", value);
  const { typoSuggestion, details, ...others } = value as Record<string, unknown>;
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

/** Returns the document of a policy. */
export function policy(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const document: unknown = JSON.stringify(value);
    if (typeof document === "string") return document;
  }
  throw wrong("policy", "an object or its JSON text", value);
}

/** Returns what was looked up as a sum of FOUND, and whether the exchanges are throw-away ones. */
export function found(value: unknown): [found: number, disposable: boolean] {
  if (value === undefined) return [0, false];
  if (typeof value !== "object" || value === null) throw wrong("found", "an object", value);
  const { mx, addressRecord, disposable, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0)
    throw new TypeError("found has another member than mx, addressRecord and disposable");
  for (const [name, fact] of Object.entries({ mx, addressRecord, disposable }))
    if (fact !== undefined && fact !== null && typeof fact !== "boolean")
      throw wrong(`found.${name}`, "a boolean or null", fact);
  const word =
    bits(mx, FOUND.lookedUp, FOUND.mx)
    | bits(addressRecord, FOUND.addressLookedUp, FOUND.addressRecord);
  return [word, disposable === true];
}

/** Returns the bits of a fact: known if something was looked up, there if it was found. */
function bits(fact: unknown, known: number, there: number): number {
  if (typeof fact !== "boolean") return 0;
  return fact ? known | there : known;
}

/** Returns the error for an argument of another type. */
export function wrong(name: string, want: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${want}, not ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
