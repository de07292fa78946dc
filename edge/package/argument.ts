/** Checks what callers pass, who may not use TypeScript. No message repeats an address. */

import type { Address, Options } from "./index.d.ts";

/** Returns an address, or throws a TypeError that has the name of the argument. */
export function address(value: unknown, name: string): Address {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  throw wrong(name, "a string or a Uint8Array", value);
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
  if (value instanceof Uint8Array)
    throw wrong("emails", "an array of addresses, not one address", value);
  return Array.from(value as Iterable<unknown>, (email, n) => address(email, `emails[${n}]`));
}

export function bytes(value: unknown, name: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw wrong(name, "a Uint8Array", value);
}

/** Returns the options; unknown values are refused, for they are misspelled ones. */
export function options(value: unknown): Options {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw wrong("options", "an object", value);
  const { typoSuggestion, details, ...others } = value as Record<string, unknown>;
  for (const name of Object.keys(others)) {
    throw new TypeError(`options.${name} is not an option; there are typoSuggestion and details`);
  }
  if (typoSuggestion !== undefined && typoSuggestion !== "domain" && typoSuggestion !== "address") {
    throw new TypeError('options.typoSuggestion must be "domain" or "address"');
  }
  if (details !== undefined && typeof details !== "boolean")
    throw wrong("options.details", "a boolean", details);
  return value as Options;
}

/** Returns the error for an argument of another type. */
export function wrong(name: string, want: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${want}, not ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return value.constructor?.name ?? "object";
}
