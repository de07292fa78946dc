/**
 * Request targets, as they were sent. An address in a path may contain "//" and
 * "..", which `new URL` would remove, so targets are never parsed as URLs.
 */

import { type Problem, problem } from "./problem.ts";

/** An origin-form target: visible ASCII, and other characters, which not every platform encodes. */
const ORIGIN_FORM = /^\/[!-~\u0080-\uffff]*$/;
/** Host and port in RFC 3986 section 3.2, without a comma, which joins two fields. */
const HOST = /^[0-9A-Za-z.:[\]_~%!$&'()*+;=-]*$/;
const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const PERCENT = 0x25;
const encoder = new TextEncoder();

/** Returns the part of an absolute URL after the authority; any other URL is its own target. */
export function targetOf(url: string): string {
  const [, target = url] = /^[a-z]+:\/\/[^/?#]*(.*)$/is.exec(url) ?? [];
  return target === "" ? "/" : target;
}

/** Reports whether the target is in origin-form (RFC 9112 section 3.2.1). */
export function isOriginForm(target: string): boolean {
  return ORIGIN_FORM.test(target);
}

/**
 * Reports whether a Host header has the form of a host. Platforms put it before
 * the target when they build a request's URL, so that a host such as
 * "a/healthz?" would change the path.
 */
export function isHost(host: string): boolean {
  return HOST.test(host);
}

/** Splits a target into its path and its query, which includes the question mark. */
export function split(target: string): { path: string; query: string } {
  const at = target.indexOf("?");
  return at < 0
    ? { path: target, query: "" }
    : { path: target.slice(0, at), query: target.slice(at) };
}

/**
 * Percent-decodes once (RFC 3986 section 2.1); bytes, if there is something to decode,
 * because they may not be UTF-8.
 * Returns undefined if a percent sign is not followed by two hexadecimal digits.
 */
export function percentDecode(encoded: string): string | Uint8Array | undefined {
  if (!encoded.includes("%")) return encoded;
  if (BROKEN_PERCENT.test(encoded)) return undefined;
  const bytes = encoder.encode(encoded);
  let end = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === PERCENT) {
      bytes[end++] = Number.parseInt(String.fromCharCode(...bytes.subarray(i + 1, i + 3)), 16);
      i += 2;
    } else {
      bytes[end++] = bytes[i] ?? 0; // i is in range
    }
  }
  return bytes.subarray(0, end);
}

/** What a path segment may have as it is (RFC 3986 section 3.3), without the apostrophe. */
const SEGMENT = /[0-9A-Za-z._~!$&()*+,;=:@-]/;

/** Percent-encodes a segment of a path, in which no URL parser changes anything. */
export function percentEncode(segment: string | Uint8Array): string {
  const bytes = typeof segment === "string" ? encoder.encode(segment) : segment;
  return Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return SEGMENT.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

const MESSAGES = {
  400:
    "The request is not well-formed HTTP (RFC 9112): check the request line, the Host header "
    + "and the length of the body.",
  417:
    "The Expect header asks for something else than 100-continue, the only expectation there is "
    + "(RFC 9110 section 10.1.1); leave it out.",
  431:
    "The request line and headers are over 32 KiB, 100 lines or 500 commas; "
    + "send fewer or shorter headers.",
} as const;

/** Returns the problem of a request that is not well-formed HTTP, such as Node cannot parse. */
export function badRequest(status: keyof typeof MESSAGES): Problem {
  const code = status === 400 ? "INVALID_REQUEST" : "BAD_REQUEST";
  return problem(code, MESSAGES[status], { status });
}

/**
 * Returns the problem with the target, Host or Expect; undefined if there is none. Platforms refuse
 * most such requests before the worker sees them, each with its own response.
 */
export function malformed(target: string, headers: Headers): Problem | undefined {
  const expectation = headers.get("Expect") ?? "";
  if (!isOriginForm(target) || !isHost(headers.get("Host") ?? "")) return badRequest(400);
  return expectation === "" || /^100-continue$/i.test(expectation) ? undefined : badRequest(417);
}
