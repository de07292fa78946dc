// One-time passwords as an authenticator app computes them (RFC 6238, RFC 4226).

import { createHmac } from "node:crypto";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/**
 * The code of a secret in base32 (RFC 4648 section 6) at a time in milliseconds.
 * @param {string} secret
 * @param {number} time
 */
export function totp(secret, time) {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(time / 30_000)));
  const mac = createHmac("sha1", decode(secret)).update(counter).digest();
  const at = mac.readUInt8(mac.length - 1) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** @param {string} text */
function decode(text) {
  const bits = [...text.replace(/[\s=]/g, "")].map((c) =>
    ALPHABET.indexOf(c).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
