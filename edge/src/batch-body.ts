/** Reads {"emails": [string, ...]}, and says where a body has something else. */

import { type Fault, fault } from "./fault.ts";
import { MAX_DEPTH, misplaced } from "./json-text.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** The addresses as sent. Other members are ignored; if a name occurs twice the last one counts. */
export function decodeBatch(body: Uint8Array): string[] | Fault {
  let text: string;
  try {
    text = strict.decode(body);
  } catch {
    return invalid(`The body is not JSON: byte ${notUTF8At(body)} is not UTF-8.`);
  }
  const parsed = parse(body, text);
  if ("fault" in parsed) return parsed.fault;
  return emailsOf(parsed.value);
}

function emailsOf(value: unknown): string[] | Fault {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid('The body must be an object: {"emails": ["jane@example.org"]}.');
  }
  const emails: unknown = Object.hasOwn(value, "emails") ? (value as { emails: unknown }).emails : [];
  if (!Array.isArray(emails)) return invalid("emails must be an array of strings.");
  const odd = emails.findIndex((email) => typeof email !== "string");
  if (odd >= 0) return invalid(`emails[${odd}] must be a string.`);
  // A lone surrogate has no UTF-8 form; it becomes U+FFFD before addresses are compared.
  return (emails as string[]).map((email) => email.toWellFormed());
}

function parse(body: Uint8Array, text: string): { value: unknown } | { fault: Fault } {
  try {
    const value: unknown = JSON.parse(text);
    // JSON.parse has no limit of nesting; only a text of this length can exceed ours.
    if (body.length <= 2 * MAX_DEPTH || misplaced(body) === undefined) return { value };
  } catch {
    // reported below, with the position in bytes
  }
  return { fault: notJSON(body) };
}

function notJSON(body: Uint8Array): Fault {
  const { at, afterValue } = misplaced(body) ?? { at: body.length, afterValue: false };
  if (at >= body.length) return invalid(`The body is not JSON: it ends too early, at byte ${body.length}.`);
  if (afterValue) return invalid("The body must be one JSON object with nothing after it.");
  return invalid(`The body is not JSON: byte ${at} is unexpected.`);
}

/** The position of the first byte of the first sequence that a decoder replaces. */
function notUTF8At(body: Uint8Array): number {
  const replaced = encoder.encode(lenient.decode(body));
  let at = body.findIndex((byte, n) => byte !== replaced[n]);
  if (at < 0) at = body.length; // cut off inside the encoding of U+FFFD itself
  while (((replaced[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

function invalid(message: string): Fault {
  return fault("INVALID_REQUEST", message);
}
