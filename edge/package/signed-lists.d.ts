/**
 * Newer lists with a signature: `addrspec/lists`. A feed is a directory with
 * `lists.blob` and `lists.blob.minisig`, signed with minisign. This part is a file
 * of its own, so that a program that does not use it does not contain the
 * cryptography.
 */

import type { Checker } from "./index.js";

/** Signed lists. */
export interface SignedLists {
  /** The version, such as "2026.11.22-1a2b3c4d"; that of Checker.versions().lists. */
  readonly version: string;
  readonly signed: Date;
  /** From then on the lists are not taken over; lists in use remain in use. */
  readonly expires: Date;
}

export interface FeedOptions {
  /** The URL of the directory or of the blob, http or https. */
  readonly url: string | URL;
  /** The signer's public key: minisign's line that begins with RW, or a file .pub. */
  readonly key: string;
  /** Ends the update. Without it, an update takes 25 seconds at most. */
  readonly signal?: AbortSignal;
}

/** Why lists are not accepted or cannot be fetched: a sentence, without the URL. */
export class ListsError extends Error {
  override readonly name: "ListsError";
}

/**
 * Fetches the signature and, if it announces other lists than those in use, the
 * lists, and replaces them at once. Rejects if they are damaged, expired, older
 * than those in use, or signed with another key; the lists then do not change.
 */
export function updateLists(
  checker: Checker,
  options: FeedOptions,
): Promise<SignedLists & { readonly updated: boolean }>;

/**
 * Verifies a blob that the caller has, with the text of its `.minisig`. Rejects
 * if the signature is not one of the key for this blob, or has expired.
 */
export function verifyLists(blob: Uint8Array, signature: string, key: string): Promise<SignedLists>;
