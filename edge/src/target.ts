/**
 * The request target as it was sent. An address in a path may hold "//" and
 * "..", which `new URL` would clean away, so targets are never parsed as URLs.
 */

const BROKEN = /%(?![0-9A-Fa-f]{2})|[\x00-\x20\x7f]/;
const encoder = new TextEncoder();

/** What stands behind the authority of an absolute URL. */
export function targetOf(url: string): string {
  const at = url.indexOf("/", url.indexOf("://") + 3);
  return at < 0 ? "/" : url.slice(at);
}

export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** Whether the path is no path of HTTP: a stray percent sign or a control character. */
export function isBroken(path: string): boolean {
  return BROKEN.test(path);
}

/** Percent-decodes once (RFC 3986 section 2.1); what comes out may not be UTF-8. */
export function percentDecode(encoded: string): Uint8Array {
  const octets = encoder.encode(encoded);
  if (!encoded.includes("%")) return octets;
  let end = 0;
  for (let i = 0; i < octets.length; i++) {
    if (octets[i] !== 0x25) {
      octets[end++] = octets[i]!;
      continue;
    }
    octets[end++] = Number.parseInt(String.fromCharCode(octets[i + 1]!, octets[i + 2]!), 16);
    i += 2;
  }
  return octets.subarray(0, end);
}
