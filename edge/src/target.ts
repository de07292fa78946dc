/**
 * The request target as it was sent. An address in a path may hold "//" and
 * "..", which `new URL` would clean away, so targets are never parsed as URLs.
 */

const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const NOT_IN_A_TARGET = /[\x00-\x20\x7f]/;
const HOST = /^[0-9A-Za-z.:[\]_~%!$&'()*+;=-]*$/; // host and port in RFC 3986 section 3.2; a comma joins two fields
const PERCENT = 0x25;
const encoder = new TextEncoder();

/** What follows the authority of an absolute URL; a URL of another kind is its own target. */
export function targetOf(url: string): string {
  const [, target = url] = /^[a-z]+:\/\/[^/?#]*(.*)$/is.exec(url) ?? [];
  return target === "" ? "/" : target;
}

/** Whether the target is in origin-form (RFC 9112 section 3.2.1), in characters that HTTP allows. */
export function isOriginForm(target: string): boolean {
  return target.startsWith("/") && !NOT_IN_A_TARGET.test(target);
}

/**
 * Whether a Host header can be one. Platforms put it before the target when they
 * make the URL of a request, so a host such as "a/healthz?" would move the path.
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
 * Percent-decodes once (RFC 3986 section 2.1); what comes out may not be UTF-8.
 * Undefined if a percent sign is not followed by two hexadecimal digits.
 */
export function percentDecode(encoded: string): Uint8Array | undefined {
  const bytes = encoder.encode(encoded);
  if (!encoded.includes("%")) return bytes;
  if (BROKEN_PERCENT.test(encoded)) return undefined;
  let end = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] !== PERCENT) {
      bytes[end++] = bytes[i]!;
      continue;
    }
    bytes[end++] = Number.parseInt(String.fromCharCode(bytes[i + 1]!, bytes[i + 2]!), 16);
    i += 2;
  }
  return bytes.subarray(0, end);
}
