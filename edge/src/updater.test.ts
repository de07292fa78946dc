import assert from "node:assert/strict";
import { test } from "node:test";

import { Engine } from "./engine.ts";
import { parseFeedURL } from "./feed.ts";
import { parsePublicKey } from "./minisign.ts";
import { versionOf } from "./signed-lists.ts";
import { compileModule, listsOf, Signer } from "./testing.ts";
import { Updater } from "./updater.ts";

const module = compileModule();
const HOUR = 3_600_000;
const signer = new Signer();

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
