import assert from "node:assert/strict";
import { test } from "node:test";
import { compileModule, listsOf, packedLists, Signer } from "../test/testing.ts";
import { Engine } from "./engine.ts";
import { parseFeedURL, Updater, updateLists } from "./feed.ts";
import { parsePublicKey, versionOf } from "./signature.ts";

const signer = new Signer();
const SOURCE = {
  blob: parseFeedURL("https://feed.example/lists/"),
  key: parsePublicKey(signer.key),
};
const NOW = 1795400000;
const BLOB = listsOf("2030.01.01");
const VERSION = versionOf(BLOB) ?? "";
const SIGNATURE = signer.sign(
  BLOB,
  `addrspec lists version:${VERSION} signed:${NOW} expires:${NOW + 60}`,
);

/** Updates lists of a version from a server that responds to the requests in turn. */
async function from(
  replies: (string | Uint8Array<ArrayBuffer> | Response | Error)[],
  lists = versionOf(packedLists) ?? "",
) {
  const asked: string[] = [];
  const set: Uint8Array[] = [];
  const holder = { versions: () => ({ lists }), setLists: (blob: Uint8Array) => set.push(blob) };
  const update = await updateLists(holder, SOURCE, {
    fetch: async (target) => {
      asked.push(target);
      const reply = replies[asked.length - 1] ?? new Error("no more replies");
      if (reply instanceof Error) throw reply;
      return reply instanceof Response ? reply : new Response(reply);
    },
    timeoutMS: 10_000,
    stop: new AbortController().signal,
    now: 1000 * NOW,
  });
  return { ...update, asked, set };
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
  const update = await from([SIGNATURE, BLOB]);
  assert.deepEqual([update.updated, update.set], [true, [BLOB]]);
  assert.deepEqual(update.release, { version: VERSION, signed: NOW, expires: NOW + 60 });
  assert.deepEqual(update.asked, [
    "https://feed.example/lists/lists.blob.minisig",
    "https://feed.example/lists/lists.blob",
  ]);
});

test("the blob is fetched only if the lists in use are others", async () => {
  const { updated, release, asked } = await from([SIGNATURE], VERSION);
  assert.deepEqual([updated, release.signed, asked.length], [false, NOW, 1]);
});

test("a feed that is refused costs one small request", async () => {
  const comment = `addrspec lists version:${VERSION} signed:${NOW - 60} expires:${NOW}`;
  await assert.rejects(from([signer.sign(BLOB, comment)]), /they expired on/);
  await assert.rejects(from([SIGNATURE], "2030.01.02-00000000"), /older than the lists in use/);
  await assert.rejects(from([new Signer().sign(BLOB, "x")]), /trusted comment is wrong/);
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
    [[SIGNATURE, new Uint8Array((4 << 20) + 1)], "lists.blob: it is larger than 4 MiB"],
    [
      [SIGNATURE, BLOB.slice(0, 1000)],
      "the signature does not fit the lists: they are damaged, or other lists were signed",
    ],
  ] as const) {
    await assert.rejects(from([...replies]), { name: "ListsError", message: reason });
  }
});

test("a redirect from https to http is refused", async () => {
  const redirected = Object.defineProperty(new Response(SIGNATURE), "url", {
    value: "http://feed.example/x",
  });
  await assert.rejects(from([redirected]), /redirects from https to http/);
});

const module = compileModule();
const HOUR = 3_600_000;

/** Returns an updater whose feed, clock and chance the test sets. */
function newUpdater() {
  const engine = new Engine(module);
  const logged: string[] = [];
  const feed = { status: 200, signature: "", blob: new Uint8Array(), asked: 0 };
  const clock = { now: 1795400000_000, chance: 0.5 };
  const publish = (date: string, signed = clock.now / 1000, expires = signed + 30 * 86_400) => {
    feed.blob = listsOf(date);
    feed.signature = signer.sign(
      feed.blob,
      `addrspec lists version:${versionOf(feed.blob)} signed:${signed} expires:${expires}`,
    );
    return versionOf(feed.blob);
  };
  const updater = new Updater({
    engine,
    feed: { blob: parseFeedURL("http://feed.test"), key: parsePublicKey(signer.key) },
    intervalMS: 6 * HOUR,
    log: (line) => logged.push(line),
    now: () => clock.now,
    random: () => clock.chance,
    fetch: async (url) => {
      feed.asked++;
      return new Response(
        url.endsWith(".minisig") ? feed.signature : (feed.blob as Uint8Array<ArrayBuffer>),
        { status: feed.status },
      );
    },
  });
  return { engine, logged, feed, clock, publish, updater };
}

test("Updater installs newer lists, and fetches nothing more while they are current", async () => {
  const { engine, logged, feed, publish, updater } = newUpdater();
  const before = engine.versions().lists;
  const version = publish("2030.01.01");
  assert.equal(await updater.update(), undefined);
  assert.equal(engine.versions().lists, version);
  assert.deepEqual(logged, [`lists: updated from ${before} to ${version}`]);
  assert.equal(feed.asked, 2);
  assert.equal(await updater.update(), undefined);
  assert.equal(feed.asked, 3);
  assert.equal(logged.length, 1);
});

test("Updater refuses lists that were signed before those in use, though their date is later", async () => {
  const { engine, clock, publish, updater } = newUpdater();
  const version = publish("2030.01.01");
  await updater.update();
  publish("2031.01.01", clock.now / 1000 - 1);
  assert.match((await updater.update()) ?? "", /older than the lists in use/);
  assert.equal(engine.versions().lists, version);
  const back = publish("2029.01.01", clock.now / 1000 + 1); // the signer went back
  assert.equal(await updater.update(), undefined);
  assert.equal(engine.versions().lists, back);
});

test("Updater logs a failure once per change of reason, and keeps the lists", async () => {
  const { engine, logged, feed, publish, updater } = newUpdater();
  const before = engine.versions().lists;
  publish("2030.01.01");
  for (const status of [404, 404, 500, 500, 200, 404]) {
    feed.status = status;
    await updater.update();
    if (status !== 200 && logged.length < 3) assert.equal(engine.versions().lists, before);
  }
  assert.deepEqual(
    logged.map((line) => /status \d+|updated from/.exec(line)?.[0]),
    ["status 404", "status 500", "updated from", "status 404"],
  );
});

test("Updater keeps the lists that the module refuses to replace", async () => {
  const { engine, feed, clock, updater } = newUpdater();
  const before = engine.versions().lists;
  feed.blob = listsOf("2030.01.01").slice(0, 5000); // signed, but truncated by the signer
  feed.signature = signer.sign(
    feed.blob,
    `addrspec lists version:${versionOf(feed.blob)} signed:${clock.now / 1000} expires:${clock.now / 1000 + 60}`,
  );
  assert.match((await updater.update()) ?? "", /the blob is damaged/);
  assert.equal(engine.versions().lists, before);
  assert.equal(engine.check("jane@example.org").refusal, null);
});

test("Updater.poll updates at the start and after the interval, with jitter, one at a time", async () => {
  const { clock, feed, publish, updater } = newUpdater();
  publish("2030.01.01");
  let running: Promise<unknown> | undefined;
  const poll = async () => {
    running = undefined;
    updater.poll((update) => {
      running = update;
    });
    const started = running !== undefined;
    updater.poll(() => assert.fail("two updates at a time"));
    await running;
    return started;
  };
  assert.equal(await poll(), true);
  assert.equal(await poll(), false);
  for (const [chance, share] of [
    [0, 0.9],
    [0.5, 1],
    [1, 1.1],
  ] as const) {
    clock.chance = chance;
    clock.now += 10 * HOUR;
    assert.equal(await poll(), true);
    assert.equal(updater.delay, Math.round(share * 6 * HOUR));
    clock.now += updater.delay - 1;
    assert.equal(await poll(), false);
  }
  feed.status = 503;
  clock.chance = 0.5;
  for (const minutes of [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]) {
    clock.now += 7 * HOUR;
    assert.equal(await poll(), true);
    assert.equal(updater.delay, minutes * 60_000); // sooner after a failure
  }
  feed.status = 200;
  clock.now += 7 * HOUR;
  assert.equal(await poll(), true);
  assert.equal(updater.delay, 6 * HOUR);
});

test("Updater starts again after an update that the platform abandoned", async () => {
  const { clock, updater } = newUpdater();
  void updater.update(); // its continuation never runs before the clock moves on
  let polled = 0;
  const poll = () => updater.poll(() => polled++);
  poll();
  assert.equal(polled, 0);
  clock.now += 60_000;
  poll();
  assert.equal(polled, 1);
});
