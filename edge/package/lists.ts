/** Newer lists with a signature: the part `addrspec/lists` of the package. */

import { MAX_TIMEOUT_MS, parseFeedURL, updateLists as update } from "../src/feed.ts";
import {
  ListsError,
  parsePublicKey,
  type Release,
  readAnnouncement,
  requireAnnounced,
  requireFresh,
} from "../src/signature.ts";
import type { Checker } from "./index.d.ts";
import type { FeedOptions, SignedLists } from "./signed-lists.d.ts";

export { ListsError };

export async function updateLists(
  checker: Checker,
  { url, key, signal: stop = new AbortController().signal }: FeedOptions,
): Promise<SignedLists & { readonly updated: boolean }> {
  const feed = { blob: parseFeedURL(String(url)), key: parsePublicKey(key) };
  const { release, updated } = await update(checker, feed, {
    fetch: (address, init) => fetch(address, init),
    timeoutMS: MAX_TIMEOUT_MS,
    stop,
    now: Date.now(),
  });
  return { ...described(release), updated };
}

export async function verifyLists(
  blob: Uint8Array,
  signature: string,
  key: string,
): Promise<SignedLists> {
  const announcement = await readAnnouncement(signature, parsePublicKey(key));
  await requireAnnounced(blob, announcement);
  requireFresh(announcement.release, Date.now());
  return described(announcement.release);
}

function described({ version, signed, expires }: Release): SignedLists {
  return { version, signed: new Date(1000 * signed), expires: new Date(1000 * expires) };
}
