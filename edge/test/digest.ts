/**
 * The proof of sameness in one value: SHA-256 over the module's answers. The
 * addresses come in one piece: each is a word of 32 bits, little-endian, its
 * length times two plus its flag, and then its bytes.
 */

import { concat } from "../src/body.ts";
import type { Engine } from "../src/engine.ts";

/** How many answers one digest covers, so that a difference can be found. */
const BLOCK = 1000;
const NEWLINE = Uint8Array.of(0x0a);

/** The digests, in hexadecimal, of each block of answers, a line each. */
export async function digests(engine: Engine, addresses: Uint8Array): Promise<string[]> {
  const found: string[] = [];
  const words = new DataView(addresses.buffer, addresses.byteOffset);
  for (let at = 0; at < addresses.length; ) {
    const lines: Uint8Array[] = [];
    for (let n = 0; n < BLOCK && at < addresses.length; n++) {
      const word = words.getUint32(at, true);
      const end = at + 4 + (word >>> 1);
      lines.push(engine.check(addresses.subarray(at + 4, end), word & 1).json, NEWLINE);
      at = end;
    }
    found.push(
      hex(
        await crypto.subtle.digest(
          "SHA-256",
          concat(
            lines,
            lines.reduce((size, line) => size + line.length, 0),
          ),
        ),
      ),
    );
  }
  return found;
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
