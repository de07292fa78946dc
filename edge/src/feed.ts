/**
 * Fetches lists from a feed: a directory of any web server with lists.blob and
 * lists.blob.minisig. The signature comes first: it is small, and decides whether
 * the blob is needed.
 */

import { readAll } from "./body.ts";
import { ListsError } from "./lists-error.ts";
import type { PublicKey } from "./minisign.ts";
import type { Fetch } from "./response.ts";
import {
  type Announcement,
  type CurrentLists,
  MAX_BLOB,
  MAX_SIGNATURE,
  type Release,
  readAnnouncement,
  requireAnnounced,
  requireFresh,
  requireNotOlder,
} from "./signed-lists.ts";

/** Where a deployment's lists come from. */
export interface Feed {
  /** The URL of the blob; its signature is beside it. */
  readonly blob: URL;
  readonly key: PublicKey;
}

/** Newer lists, verified; blob is undefined if the lists in use are these already. */
export interface Update {
  readonly release: Release;
  readonly blob: Uint8Array | undefined;
}

const BLOB_NAME = "lists.blob";

/** Reads the URL of a feed: that of the blob, or of its directory. */
export function parseFeedURL(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && /^https?:$/.test(url.protocol) && url.hash === "";
  if (!fits || url.username !== "" || url.password !== "") {
    throw new Error(
      "must be the URL of a directory with lists.blob, such as https://lists.example.org/feed/",
    );
  }
  if (!url.pathname.endsWith(".blob")) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${BLOB_NAME}`;
  }
  return url;
}

/** How to fetch; now is in milliseconds. */
export interface Access {
  readonly fetch: Fetch;
  readonly signal: AbortSignal | null;
  readonly now: number;
}

/** Fetches and verifies newer lists; rejects if there are none to be had. */
export async function fetchUpdate(
  feed: Feed,
  current: CurrentLists,
  access: Access,
): Promise<Update> {
  const text = await fetchSignature(feed, access);
  const announcement = await announced(text, feed.key);
  const { release } = announcement;
  requireFresh(release, access.now);
  requireNotOlder(release, current);
  if (release.version === current.version) return { release, blob: undefined };
  const blob = await download(feed.blob, MAX_BLOB, access);
  try {
    await requireAnnounced(blob, announcement, feed.key);
    return { release, blob };
  } catch (error) {
    // The feed may have been replaced between the two files.
    if ((await fetchSignature(feed, access)) === text) throw error;
    throw new ListsError("the feed was replaced while it was read");
  }
}

async function fetchSignature({ blob }: Feed, access: Access): Promise<string> {
  const url = new URL(blob);
  url.pathname += ".minisig";
  return new TextDecoder().decode(await download(url, MAX_SIGNATURE, access));
}

async function announced(text: string, key: PublicKey): Promise<Announcement> {
  try {
    return await readAnnouncement(text, key);
  } catch (error) {
    if (!(error instanceof ListsError)) throw error;
    throw new ListsError(`${BLOB_NAME}.minisig: ${error.message}`);
  }
}

async function download(url: URL, limit: number, { fetch, signal }: Access): Promise<Uint8Array> {
  const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  try {
    // A cache on the way must ask the feed whether its copy is current.
    const response = await fetch(url.href, { signal, cache: "no-cache" });
    const refusal = refusalOf(url, response);
    if (refusal !== undefined) {
      await response.body?.cancel();
      throw new ListsError(`${name}: ${refusal}`);
    }
    const bytes = await readAll(response, limit);
    if (bytes !== undefined) return bytes;
    throw new ListsError(`${name}: it is larger than ${sizeOf(limit)}`);
  } catch (error) {
    if (error instanceof ListsError) throw error;
    // The message of fetch may contain the URL.
    throw new ListsError(`${name}: the feed cannot be reached (${nameOf(error)})`);
  }
}

function refusalOf(url: URL, response: Response): string | undefined {
  if (response.status !== 200) return `the feed responded with status ${response.status}`;
  if (url.protocol === "https:" && response.url.startsWith("http:")) {
    return "the feed redirects from https to http";
  }
  return undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function sizeOf(bytes: number): string {
  return bytes >= 1 << 20 ? `${bytes >> 20} MiB` : `${bytes >> 10} KiB`;
}
