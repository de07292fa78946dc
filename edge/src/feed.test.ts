import assert from "node:assert/strict";
import { test } from "node:test";

import { type Access, fetchUpdate, parseFeedURL } from "./feed.ts";
import { parsePublicKey } from "./minisign.ts";
import { type CurrentLists, versionOf } from "./signed-lists.ts";
import { listsOf, packedLists, Signer } from "./testing.ts";

const signer = new Signer();
const url = parseFeedURL("https://feed.example/lists/");
const feed = { blob: url, key: parsePublicKey(signer.key) };
const NOW = 1795400000;
const blob = listsOf("2030.01.01");
const version = versionOf(blob) ?? "";
const signature = signer.sign(
  blob,
  `addrspec lists version:${version} signed:${NOW} expires:${NOW + 60}`,
);
const builtIn = { version: versionOf(packedLists) ?? "" };

/** Fetches from a server that responds to the requests in turn. */
async function from(
  replies: (string | Uint8Array<ArrayBuffer> | Response | Error)[],
  current: CurrentLists = builtIn,
) {
  const asked: string[] = [];
  const fetch: Access["fetch"] = async (target) => {
    asked.push(target);
    const reply = replies[asked.length - 1] ?? new Error("no more replies");
    if (reply instanceof Error) throw reply;
    return reply instanceof Response ? reply : new Response(reply);
  };
  const update = await fetchUpdate(feed, current, {
    fetch,
    signal: new AbortController().signal,
    now: 1000 * NOW,
  });
  return { ...update, asked };
}

test("parseFeedURL takes the URL of a directory or of a blob", () => {
  for (const [text, want] of [
    ["https://feed.example", "https://feed.example/lists.blob"],
    ["https://feed.example/a/", "https://feed.example/a/lists.blob"],
    ["http://127.0.0.1:1/a", "http://127.0.0.1:1/a/lists.blob"],
    ["https://feed.example/a/lists.blob?v=1", "https://feed.example/a/lists.blob?v=1"],
    ["https://feed.example/other.blob", "https://feed.example/other.blob"],
  ] as const) {
    assert.equal(parseFeedURL(text).href, want);
  }
  for (const wrong of [
    "",
    "lists.blob",
    "file:///lists.blob",
    "https://u:p@feed.example/",
    "https://feed.example/#x",
  ]) {
    assert.throws(() => parseFeedURL(wrong), /must be the URL/);
  }
});

test("newer lists are fetched after their signature", async () => {
  const update = await from([signature, blob]);
  assert.deepEqual(update.blob, blob);
  assert.deepEqual(update.release, { version, signed: NOW, expires: NOW + 60 });
  assert.deepEqual(update.asked, [
    "https://feed.example/lists/lists.blob.minisig",
    "https://feed.example/lists/lists.blob",
  ]);
});

test("the blob is fetched only if the lists in use are others", async () => {
  const { blob: none, release, asked } = await from([signature], { version, signed: NOW - 10 });
  assert.equal(none, undefined);
  assert.equal(release.signed, NOW);
  assert.equal(asked.length, 1);
});

test("a feed that is refused costs one small request", async () => {
  const comment = `addrspec lists version:${version} signed:${NOW - 60} expires:${NOW}`;
  await assert.rejects(from([signer.sign(blob, comment)]), /they expired on/);
  await assert.rejects(
    from([signature], { version: builtIn.version, signed: NOW + 1 }),
    /older than the lists in use/,
  );
  await assert.rejects(
    from([signature], { version: "2030.01.02-00000000" }),
    /older than the lists in use/,
  );
  await assert.rejects(from([new Signer().sign(blob, "x")]), /trusted comment is wrong/);
});

test("a failure is a sentence without the URL", async () => {
  const gone = new Response("https://feed.example", { status: 404 });
  for (const [replies, reason] of [
    [[gone], "lists.blob.minisig: the feed responded with status 404"],
    [["<html>"], "lists.blob.minisig: it is not a signature of minisign"],
    [["x".repeat(4097)], "lists.blob.minisig: it is larger than 4 KiB"],
    [
      [new TypeError("fetch https://feed.example failed")],
      "lists.blob.minisig: the feed cannot be reached (TypeError)",
    ],
    [[signature, new Uint8Array((4 << 20) + 1)], "lists.blob: it is larger than 4 MiB"],
    [
      [signature, blob.slice(0, 1000), signature],
      "the signature does not fit the lists: they are damaged, or other lists were signed",
    ],
    [
      [signature, packedLists.slice(), signature.replace(": sig", ": a sig")],
      "the feed was replaced while it was read",
    ],
  ] as const) {
    await assert.rejects(from([...replies]), { name: "ListsError", message: reason });
  }
});

test("a redirect from https to http is refused", async () => {
  const redirected = Object.defineProperty(new Response(signature), "url", {
    value: "http://feed.example/x",
  });
  await assert.rejects(from([redirected]), /redirects from https to http/);
});
