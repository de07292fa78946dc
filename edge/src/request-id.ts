const SAFE = /^[0-9A-Za-z._:-]{1,128}$/;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns the client's request id if it is safe in a header and in a log line, else a new one. */
export function requestID(given: string | null): string {
  if (given !== null && SAFE.test(given)) return given;
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(26))) id += BASE32.charAt(byte & 31);
  return id;
}
