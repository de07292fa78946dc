/** Newer lists with a signature: the part `addrspec/lists` of the package. */

import { fetchUpdate, parseFeedURL } from "../src/feed.ts";
import { ListsError } from "../src/lists-error.ts";
import { parsePublicKey } from "../src/minisign.ts";
import type { Fetch } from "../src/response.ts";
import {
  type Release,
  readAnnouncement,
  requireAnnounced,
  requireFresh,
} from "../src/signed-lists.ts";
import { withTimeout } from "../src/timeout.ts";
import type { Checker } from "./index.d.ts";
import type { FeedOptions, SignedLists } from "./signed-lists.d.ts";

export { ListsError };

const TIMEOUT_MS = 25_000;

const platformFetch: Fetch = (url, init) => fetch(url, init);

/** The signed lists of each checker. */
const installed = new WeakMap<Checker, Release>();

export async function updateLists(
  checker: Checker,
  { url, key, signal: stop = new AbortController().signal }: FeedOptions,
): Promise<SignedLists & { readonly updated: boolean }> {
  const feed = { blob: parseFeedURL(String(url)), key: parsePublicKey(key) };
  const update = await withTimeout(TIMEOUT_MS, stop, (signal) =>
    fetchUpdate(feed, inUse(checker), { fetch: platformFetch, signal, now: Date.now() }),
  ).catch(refuse);
  if (update.blob !== undefined) install(checker, update.blob);
  installed.set(checker, update.release);
  return { ...described(update.release), updated: update.blob !== undefined };
}

export async function verifyLists(
  blob: Uint8Array,
  signature: string,
  key: string,
): Promise<SignedLists> {
  const publicKey = parsePublicKey(key);
  const announcement = await readAnnouncement(signature, publicKey);
  await requireAnnounced(blob, announcement, publicKey);
  requireFresh(announcement.release, Date.now());
  return described(announcement.release);
}

/** Rejects with a ListsError if the feed is too slow, and with the error otherwise. */
function refuse(error: unknown): never {
  const late = error instanceof Error && error.name === "TimeoutError";
  throw late ? new ListsError("the feed did not respond in time") : error;
}

/** Replaces the lists, whose signature is right; the module checks all else. */
function install(checker: Checker, blob: Uint8Array): void {
  try {
    checker.setLists(blob);
  } catch (error) {
    throw new ListsError(error instanceof Error ? error.message : "the module failed");
  }
}

/** Returns the lists in use, with their time of signing if this file installed them. */
function inUse(checker: Checker) {
  const { lists: version } = checker.versions();
  const release = installed.get(checker);
  return { version, signed: release?.version === version ? release.signed : undefined };
}

function described({ version, signed, expires }: Release): SignedLists {
  return { version, signed: new Date(1000 * signed), expires: new Date(1000 * expires) };
}
