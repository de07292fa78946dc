import assert from "node:assert/strict";
import { test } from "node:test";

import { Body } from "./body.ts";

/** A stream of pieces, and how many of them were taken. */
function streamOf(pieces: (number | Error)[]) {
  const taken = { pieces: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[taken.pieces++];
        if (piece === undefined) controller.close();
        else if (piece instanceof Error) controller.error(piece);
        else controller.enqueue(new Uint8Array(piece).fill(taken.pieces));
      },
      cancel() {
        taken.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, taken };
}

const length = async (body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) =>
  (await new Response(body).arrayBuffer()).byteLength;

test("a body that ends in time is all there", async () => {
  for (const pieces of [[], [0], [3], [1, 0, 2], [5, 5]]) {
    const body = new Body(streamOf(pieces).stream);
    const start = await body.start(10);
    assert.ok(body.ended, `${pieces}`);
    assert.equal(
      start.length,
      pieces.reduce((sum, n) => sum + n, 0),
    );
    assert.equal(await length(body.from(start, 11)), start.length);
  }
  const none = new Body(null);
  assert.equal((await none.start(10)).length, 0);
  assert.ok(none.ended);
});

test("a longer one is read as it is sent on", async () => {
  const { stream, taken } = streamOf([8, 8, 0, 0, 8, 8]);
  const body = new Body(stream);
  const start = await body.start(10);
  assert.deepEqual([start.length, taken.pieces, body.ended], [16, 2, false]);
  const whole = new Uint8Array(await new Response(body.from(start, 100)).arrayBuffer());
  assert.deepEqual(
    Array.from(whole),
    [1, 2, 5, 6].flatMap((n) => Array(8).fill(n)),
  );
});

test("nothing beyond the limit is read", async () => {
  for (const [limit, sent, pieces] of [
    [16, 16, 2],
    [20, 20, 3],
    [24, 24, 3],
    [25, 25, 4],
    [5, 5, 2],
  ] as const) {
    const { stream, taken } = streamOf([8, 8, 8, 8, 8, 8]);
    const body = new Body(stream);
    assert.equal(await length(body.from(await body.start(10), limit)), sent);
    assert.deepEqual(taken, { pieces, cancelled: true }, `${limit}`);
  }
});

test("a caller who breaks off", async () => {
  const early = new Body(streamOf([8, new Error("gone")]).stream);
  await assert.rejects(early.start(10));
  assert.deepEqual([early.size, early.broken], [8, true]);
  const late = new Body(streamOf([16, new Error("gone")]).stream);
  await assert.rejects(length(late.from(await late.start(10), 100)));
  assert.deepEqual([late.size, late.broken], [16, true]);
});
