const HARMLESS = /^[0-9A-Za-z._:-]{1,128}$/;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The caller's id where it is harmless in a header and a log line, or a new one. */
export function requestID(given: string | null): string {
  if (given !== null && HARMLESS.test(given)) return given;
  const random = crypto.getRandomValues(new Uint8Array(26));
  return Array.from(random, (byte) => BASE32.charAt(byte & 31)).join("");
}
