/**
 * Verifies signatures of minisign (https://jedisct1.github.io/minisign/): Ed25519
 * over the BLAKE2b-512 hash of the file, and a second signature over the first
 * one and the trusted comment.
 *
 * Ed25519 (RFC 8032) is the runtime's own: workerd, Node 20, Deno, Bun, and
 * browsers since Chrome 137, Firefox 129 and Safari 17 have it in WebCrypto. Code
 * for it would add 5 KB and take several times as long. BLAKE2b (RFC 7693) is in
 * no WebCrypto, so it is bundled.
 */

import { blake2b } from "@noble/hashes/blake2.js";

import { ListsError } from "./lists-error.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export interface PublicKey {
  /** The key's id as minisign prints it. */
  readonly id: string;
  readonly ed25519: Bytes;
}

export interface Signature {
  /** The id of the key that signed. */
  readonly keyID: string;
  /** The signature of the file's hash. */
  readonly file: Bytes;
  /** The comment that the signer wrote; trusted only after verifyComment. */
  readonly comment: string;
  /** The signature of file and comment. */
  readonly global: Bytes;
}

const PURE = "Ed";
const PREHASHED = "ED";
const ID_AT = 2;
const BYTES_AT = 10;
const KEY_SIZE = 32;
const SIGNATURE_SIZE = 64;
const SECRET_KEY_LENGTH = 212;

const UNTRUSTED = "untrusted comment: ";
const TRUSTED = "trusted comment: ";

/** The bytes that are hashed before other work of the runtime may run. */
const PIECE = 64 << 10;

/** Reads a public key: the base64 line of minisign, or a file .pub. */
export function parsePublicKey(text: string): PublicKey {
  const lines = linesOf(text.trim());
  const line = lines.length === 2 && lines[0]?.startsWith(UNTRUSTED) ? lines[1] : text.trim();
  const bytes = decodeBase64(line ?? "", BYTES_AT + KEY_SIZE);
  if (bytes === undefined || algorithmOf(bytes) !== PURE) {
    throw new ListsError(
      line?.length === SECRET_KEY_LENGTH
        ? "this is a secret key: keep it where lists are signed, and give the public key"
        : "this is not a public key of minisign: give the line of 56 characters that begins with RW",
    );
  }
  return { id: idOf(bytes), ed25519: bytes.slice(BYTES_AT) };
}

/** Reads the text of a file .minisig. */
export function parseSignature(text: string): Signature {
  const [untrusted, first, trusted, second, ...rest] = linesOf(text);
  const file = decodeBase64(first ?? "", BYTES_AT + SIGNATURE_SIZE);
  const global = decodeBase64(second ?? "", SIGNATURE_SIZE);
  if (
    !untrusted?.startsWith(UNTRUSTED)
    || !trusted?.startsWith(TRUSTED)
    || file === undefined
    || global === undefined
    || rest.join("") !== ""
    || rest.length > 1
  ) {
    throw new ListsError("it is not a signature of minisign");
  }
  requirePrehashed(algorithmOf(file));
  const comment = trusted.slice(TRUSTED.length);
  return { keyID: idOf(file), file: file.slice(BYTES_AT), comment, global };
}

/** Verifies that the key signed the comment, for which the file is not needed. */
export async function verifyComment(signature: Signature, key: PublicKey): Promise<void> {
  if (signature.keyID !== key.id) {
    throw new ListsError(
      `it is signed with the key ${signature.keyID}, not with the given key ${key.id}`,
    );
  }
  const comment = new TextEncoder().encode(signature.comment);
  const signed = new Uint8Array(SIGNATURE_SIZE + comment.length);
  signed.set(signature.file);
  signed.set(comment, SIGNATURE_SIZE);
  if (await verify(key, signature.global, signed)) return;
  throw new ListsError("the signature of its trusted comment is wrong: it was changed");
}

/** Reports whether the key signed the file; the caller has called verifyComment. */
export async function verifyFile(
  file: Uint8Array,
  signature: Signature,
  key: PublicKey,
): Promise<boolean> {
  return verify(key, signature.file, await hash(file));
}

async function verify(key: PublicKey, signature: Bytes, message: Bytes): Promise<boolean> {
  const { subtle } = globalThis.crypto ?? {};
  const imported = await subtle
    ?.importKey("raw", key.ed25519, "Ed25519", false, ["verify"])
    .catch(() => undefined);
  if (imported === undefined) {
    throw new ListsError(
      "this runtime cannot verify Ed25519 (WebCrypto; a browser has it only on https pages)",
    );
  }
  return subtle.verify("Ed25519", imported, signature, message);
}

/** Hashes in pieces, because hashing 350 KB at once would delay requests by 15 to 50 ms. */
async function hash(file: Uint8Array): Promise<Bytes> {
  const state = blake2b.create({ dkLen: 64 });
  for (let at = 0; at < file.length; at += PIECE) {
    state.update(file.subarray(at, at + PIECE));
    await new Promise((resume) => setTimeout(resume, 0));
  }
  return new Uint8Array(state.digest());
}

function requirePrehashed(algorithm: string): void {
  if (algorithm === PREHASHED) return;
  throw new ListsError(
    algorithm === PURE
      ? "it is a legacy signature of minisign: sign without -l"
      : "it has an algorithm that this program does not know",
  );
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/** Returns the bytes; undefined unless the text is the base64 (RFC 4648) of that many bytes. */
function decodeBase64(text: string, size: number): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]+=*$/.test(text) || text.length !== 4 * Math.ceil(size / 3)) return undefined;
  try {
    const binary = atob(text);
    // Other texts decode to the same bytes if the last character has unused bits.
    if (binary.length !== size || btoa(binary) !== text) return undefined;
    return Uint8Array.from(binary, (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function algorithmOf(bytes: Bytes): string {
  return String.fromCharCode(...bytes.subarray(0, ID_AT));
}

/** Returns the key id as minisign prints it: hexadecimal, the last byte first. */
function idOf(bytes: Bytes): string {
  const id = [...bytes.subarray(ID_AT, BYTES_AT)].reverse();
  return id.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");
}
