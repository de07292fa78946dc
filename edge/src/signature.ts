/**
 * Verifies signed lists, lists.blob and lists.blob.minisig. The signature is one of minisign
 * (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 hash of the file, and a
 * second signature over the first one and the trusted comment, which says what was signed, when,
 * and until when it may be taken over:
 *
 *     addrspec lists version:2026.11.22-1a2b3c4d signed:1795372800 expires:1797964800
 *
 * Ed25519 (RFC 8032) is the runtime's own: workerd, Node 20, Deno, Bun, and
 * browsers since Chrome 137, Firefox 129 and Safari 17 have it in WebCrypto. Code
 * for it would add 5 KB and take several times as long. BLAKE2b (RFC 7693) is in
 * no WebCrypto, so it is bundled.
 */

import { blake2b } from "@noble/hashes/blake2.js";
import { concat } from "./body.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Thrown when lists, their signature or the key are not accepted, or cannot be
 * fetched. The message is a sentence for people, without a URL.
 */
export class ListsError extends Error {
  override readonly name = "ListsError";
}

export interface PublicKey {
  /** The key's id as minisign prints it. */
  readonly id: string;
  readonly ed25519: Bytes;
}

export interface Signature {
  readonly keyID: string;
  /** The signature of the file's hash. */
  readonly file: Bytes;
  /** The comment that the signer wrote; trusted once its signature is verified. */
  readonly comment: string;
  /** The signature of file and comment. */
  readonly global: Bytes;
}

export interface Release {
  /** The version of the lists, such as "2026.11.22-1a2b3c4d". */
  readonly version: string;
  /** Unix time, in seconds. */
  readonly signed: number;
  /** The Unix time from which the lists are not taken over, in seconds. */
  readonly expires: number;
}

/** A signature whose key and comment are verified; the blob is not. */
export interface Announcement {
  readonly release: Release;
  readonly signature: Signature;
  readonly key: PublicKey;
}

export interface CurrentLists {
  readonly version: string;
  /** When they were signed, in Unix seconds; undefined if they have no signature. */
  readonly signed?: number | undefined;
}

/** The largest blob that the module accepts, in bytes (wasm/ABI.md). */
export const MAX_BLOB = 4 << 20;
/** The largest signature, in bytes; minisign's own has about 350. */
export const MAX_SIGNATURE = 4 << 10;

// A key or signature is two letters for the algorithm, the key's id and the bytes.
const PURE = "Ed";
const PREHASHED = "ED";
const ID_AT = 2;
const BYTES_AT = 10;
const KEY_SIZE = 32;
const SIGNATURE_SIZE = 64;
const SECRET_KEY_LENGTH = 212;

const UNTRUSTED = "untrusted comment: ";
const TRUSTED = "trusted comment: ";
const COMMENT =
  /^addrspec lists version:(\d{4}\.\d{2}\.\d{2}-[0-9a-f]{8}) signed:([1-9]\d{0,11}) expires:([1-9]\d{0,11})$/;

/** The bytes that are hashed before other work of the runtime may run. */
const PIECE = 64 << 10;
/** How far the signer's clock may be ahead: after lists from the future, all would be older. */
const CLOCK_SLACK_S = 24 * 3600;

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
  const isWhole = untrusted?.startsWith(UNTRUSTED) && rest.length <= 1 && rest.join("") === "";
  if (!isWhole || !trusted?.startsWith(TRUSTED) || !file || !global)
    throw new ListsError("it is not a signature of minisign");
  const algorithm = algorithmOf(file);
  if (algorithm === PURE)
    throw new ListsError("it is a legacy signature of minisign: sign without -l");
  if (algorithm !== PREHASHED)
    throw new ListsError("it has an algorithm that this program does not know");
  const comment = trusted.slice(TRUSTED.length);
  return { keyID: idOf(file), file: file.slice(BYTES_AT), comment, global };
}

/** Reads a trusted comment; it must have exactly this form. */
export function parseRelease(comment: string): Release {
  const [, version, signed, expires] = COMMENT.exec(comment) ?? [];
  if (version === undefined || Number(expires) <= Number(signed))
    throw new ListsError("its trusted comment is not that of signed lists of addrspec");
  return { version, signed: Number(signed), expires: Number(expires) };
}

/** Reads a signature and verifies all of it that does not need the blob. */
export async function readAnnouncement(text: string, key: PublicKey): Promise<Announcement> {
  if (text.length > MAX_SIGNATURE) throw new ListsError("it is larger than 4 KiB");
  const signature = parseSignature(text);
  const { keyID, file, comment, global } = signature;
  if (keyID !== key.id)
    throw new ListsError(`it is signed with the key ${keyID}, not with the given key ${key.id}`);
  if (!(await verify(key, global, concat([file, new TextEncoder().encode(comment)]))))
    throw new ListsError("the signature of its trusted comment is wrong: it was changed");
  return { release: parseRelease(comment), signature, key };
}

/** Refuses lists that have expired or are from the future; now is in milliseconds. */
export function requireFresh({ signed, expires }: Release, now: number): void {
  if (now >= 1000 * expires)
    throw new ListsError(`they expired on ${dateOf(expires)}: sign them again`);
  if (now < 1000 * (signed - CLOCK_SLACK_S)) {
    throw new ListsError(
      `they were signed on ${dateOf(signed)}, which is in the future: set the signer's clock`,
    );
  }
}

export function requireNotOlder({ version, signed }: Release, current: CurrentLists): void {
  // Lists without a signature, such as those of the module, have only a day.
  const [isOlder, difference] =
    current.signed === undefined
      ? [dayOf(version) < dayOf(current.version), `${version}, in use ${current.version}`]
      : [
          signed < current.signed,
          `signed ${dateOf(signed)}, those in use ${dateOf(current.signed)}`,
        ];
  if (isOlder) throw new ListsError(`they are older than the lists in use: ${difference}`);
}

/** Verifies that the blob is the announced one. The module checks the rest of it. */
export async function requireAnnounced(
  blob: Uint8Array,
  { release, signature, key }: Announcement,
): Promise<void> {
  if (blob.length > MAX_BLOB) throw new ListsError("the lists are larger than 4 MiB");
  // In pieces, because hashing 350 KB at once would delay requests by 15 to 50 ms.
  const hash = blake2b.create({ dkLen: 64 });
  for (let at = 0; at < blob.length; at += PIECE) {
    hash.update(blob.subarray(at, at + PIECE));
    await new Promise((resume) => setTimeout(resume, 0));
  }
  if (!(await verify(key, signature.file, new Uint8Array(hash.digest())))) {
    throw new ListsError(
      "the signature does not fit the lists: they are damaged, or other lists were signed",
    );
  }
  const version = versionOf(blob);
  if (version === release.version) return;
  throw new ListsError(
    `the trusted comment is of the lists ${release.version}, the signed file is ${version ?? "not a blob of lists"}`,
  );
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

const MAGIC = "addrspec";
const CHECKSUM_AT = MAGIC.length + 1;
const DATE_AT = CHECKSUM_AT + 4;
const PARTS_AT = DATE_AT + "2026.11.22".length;

/** Returns the version in a blob's header (lists/internal/format); undefined without one. */
export function versionOf(blob: Uint8Array): string | undefined {
  const header = String.fromCharCode(...blob.subarray(0, PARTS_AT));
  if (header.length < PARTS_AT || !header.startsWith(MAGIC)) return undefined;
  const checksum = new DataView(blob.buffer, blob.byteOffset).getUint32(CHECKSUM_AT, true);
  return `${header.slice(DATE_AT)}-${checksum.toString(16).padStart(8, "0")}`;
}

function dayOf(version: string): string {
  return version.slice(0, "2026.11.22".length);
}

/** Returns a Unix time as a date and time that people read. */
function dateOf(seconds: number): string {
  return `${new Date(1000 * seconds).toISOString().slice(0, 19)}Z`;
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/** Returns the bytes; undefined unless the text is the base64 (RFC 4648) of that many bytes. */
function decodeBase64(text: string, size: number): Bytes | undefined {
  if (text.length !== 4 * Math.ceil(size / 3)) return undefined;
  try {
    const binary = atob(text);
    // Other texts decode to the same bytes: with white space, or with unused bits in the last character.
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
