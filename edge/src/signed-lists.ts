/**
 * Lists with a signature: lists.blob and lists.blob.minisig. The trusted comment
 * says what was signed, when, and until when it may be taken over:
 *
 *     addrspec lists version:2026.11.22-1a2b3c4d signed:1795372800 expires:1797964800
 */

import { ListsError } from "./lists-error.ts";
import {
  type PublicKey,
  parseSignature,
  type Signature,
  verifyComment,
  verifyFile,
} from "./minisign.ts";

/** The largest blob that the module accepts, in bytes (wasm/ABI.md). */
export const MAX_BLOB = 4 << 20;
/** The largest signature, in bytes; minisign's own has about 350. */
export const MAX_SIGNATURE = 4 << 10;

/** What a trusted comment says. */
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
}

/** The lists in use. */
export interface CurrentLists {
  readonly version: string;
  /** When they were signed, in Unix seconds; undefined if they have no signature. */
  readonly signed?: number | undefined;
}

const COMMENT =
  /^addrspec lists version:(\d{4}\.\d{2}\.\d{2}-[0-9a-f]{8}) signed:([1-9]\d{0,11}) expires:([1-9]\d{0,11})$/;

/** How far the signer's clock may be ahead: after lists from the future, all would be older. */
const CLOCK_SLACK_S = 24 * 3600;

/** Reads a trusted comment; it must have exactly this form. */
export function parseRelease(comment: string): Release {
  const [, version, signed, expires] = COMMENT.exec(comment) ?? [];
  if (version === undefined || Number(expires) <= Number(signed)) {
    throw new ListsError("its trusted comment is not that of signed lists of addrspec");
  }
  return { version, signed: Number(signed), expires: Number(expires) };
}

/** Verifies all of a signature that does not need the blob. */
export async function readAnnouncement(text: string, key: PublicKey): Promise<Announcement> {
  if (text.length > MAX_SIGNATURE) throw new ListsError("it is larger than 4 KiB");
  const signature = parseSignature(text);
  await verifyComment(signature, key);
  return { release: parseRelease(signature.comment), signature };
}

/** Refuses lists that have expired or are from the future; now is in milliseconds. */
export function requireFresh({ signed, expires }: Release, now: number): void {
  if (now >= 1000 * expires) {
    throw new ListsError(`they expired on ${dateOf(expires)}: sign them again`);
  }
  if (now < 1000 * (signed - CLOCK_SLACK_S)) {
    throw new ListsError(
      `they were signed on ${dateOf(signed)}, which is in the future: set the signer's clock`,
    );
  }
}

/** Refuses lists that are older than those in use. */
export function requireNotOlder({ version, signed }: Release, current: CurrentLists): void {
  if (current.signed === undefined) {
    // Lists without a signature, such as those of the module, have only a day.
    if (dayOf(version) >= dayOf(current.version)) return;
    throw new ListsError(
      `they are older than the lists in use: ${version}, in use ${current.version}`,
    );
  }
  if (signed >= current.signed) return;
  throw new ListsError(
    `they are older than the lists in use: signed ${dateOf(signed)}, those in use ${dateOf(current.signed)}`,
  );
}

/** Verifies that the blob is the announced one. The module checks the rest of it. */
export async function requireAnnounced(
  blob: Uint8Array,
  { release, signature }: Announcement,
  key: PublicKey,
): Promise<void> {
  if (blob.length > MAX_BLOB) throw new ListsError("the lists are larger than 4 MiB");
  if (!(await verifyFile(blob, signature, key))) {
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

const MAGIC = "addrspec";
const CHECKSUM_AT = MAGIC.length + 1;
const DATE_AT = CHECKSUM_AT + 4;
const PARTS_AT = DATE_AT + 10;

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
  const date = new Date(1000 * seconds);
  return Number.isNaN(date.getTime()) ? `at ${seconds}` : `${date.toISOString().slice(0, 19)}Z`;
}
