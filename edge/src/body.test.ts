import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { Body, isJSON, readAll, withTimeout } from "./body.ts";

/** Returns a stream of chunks of these lengths, and counts how many of them were read. */
function streamOf(chunks: (number | Error)[]) {
  const read = { chunks: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[read.chunks++];
        if (chunk === undefined) controller.close();
        else if (chunk instanceof Error) controller.error(chunk);
        else controller.enqueue(new Uint8Array(chunk).fill(read.chunks));
      },
      cancel() {
        read.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, read };
}

const length = async (body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) =>
  (await new Response(body).arrayBuffer()).byteLength;

test("Body reads a short body to its end", async () => {
  for (const chunks of [[], [0], [3], [1, 0, 2], [5, 5]]) {
    const body = new Body(streamOf(chunks).stream);
    const start = await body.readStart(10);
    assert.ok(body.ended, `${chunks}`);
    assert.equal(
      start.length,
      chunks.reduce((sum, n) => sum + n, 0),
    );
    assert.equal(await length(body.whole(start, 11)), start.length);
  }
  const none = new Body(null);
  assert.equal((await none.readStart(10)).length, 0);
  assert.ok(none.ended);
});

test("Body reads the rest of a long body on demand", async () => {
  const { stream, read } = streamOf([8, 8, 0, 0, 8, 8]);
  const body = new Body(stream);
  const start = await body.readStart(10);
  assert.deepEqual([start.length, read.chunks, body.ended], [16, 2, false]);
  const whole = new Uint8Array(await new Response(body.whole(start, 100)).arrayBuffer());
  assert.deepEqual(
    Array.from(whole),
    [1, 2, 5, 6].flatMap((n) => Array(8).fill(n)),
  );
});

test("Body reads nothing beyond the limit", async () => {
  for (const [limit, sent, chunks] of [
    [16, 16, 2],
    [20, 20, 3],
    [24, 24, 3],
    [25, 25, 4],
    [5, 5, 2],
  ] as const) {
    const { stream, read } = streamOf([8, 8, 8, 8, 8, 8]);
    const body = new Body(stream);
    assert.equal(await length(body.whole(await body.readStart(10), limit)), sent);
    assert.deepEqual(read, { chunks, cancelled: true }, `${limit}`);
  }
});

test("Body is broken when the client aborts it", async () => {
  const early = new Body(streamOf([8, new Error("gone")]).stream);
  await assert.rejects(early.readStart(10));
  assert.deepEqual([early.size, early.broken], [8, true]);
  const late = new Body(streamOf([16, new Error("gone")]).stream);
  await assert.rejects(length(late.whole(await late.readStart(10), 100)));
  assert.deepEqual([late.size, late.broken], [16, true]);
});

test("readAll reads the same with and without Content-Length, up to the limit", async () => {
  for (const headers of [
    {},
    { "Content-Length": "5" },
    { "Content-Length": "5", "Content-Encoding": "identity" },
  ]) {
    const bytes = await readAll(new Response("12345", { headers }), 5);
    assert.deepEqual(bytes, new TextEncoder().encode("12345"));
    assert.equal(await readAll(new Response("12345", { headers }), 4), undefined);
  }
  assert.equal((await readAll(new Response(null), 5))?.length, 0);
});

test("readAll does not believe a Content-Length", async () => {
  for (const claimed of ["0", "1", "-1", "1e1", "5, 5", "999999999999999999999"]) {
    const response = new Response("12345", { headers: { "Content-Length": claimed } });
    assert.equal(await readAll(response, 4), undefined, claimed);
  }
});

test("readAll rejects if the body breaks off", async () => {
  for (const headers of [{}, { "Content-Length": "5" }]) {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(3));
        controller.error(new Error("broken"));
      },
    });
    await assert.rejects(readAll(new Response(broken, { headers }), 5));
  }
});

test("isJSON accepts the usual forms", () => {
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json ; charset=UTF-8 ",
  ]) {
    assert.ok(isJSON(type), type);
  }
});

test("isJSON rejects forms that the origin has to decide on", () => {
  for (const type of [
    null,
    "",
    "text/json",
    "application/jsonp",
    "application/json, application/json",
    "application/json; charset=latin1",
    "application/json;",
    'application/json; charset="utf-8"',
    "application/json; a=1",
    "application/json\n",
  ]) {
    assert.ok(!isJSON(type), String(type));
  }
  assert.ok(!isJSON(`application/json${" ".repeat(60_000)}x`));
});

const never = () => new Promise<never>(() => undefined);
const idle = new AbortController().signal;

test("withTimeout returns what the work returns", async () => {
  assert.equal(await withTimeout(1000, idle, () => Promise.resolve(1)), 1);
  await assert.rejects(
    withTimeout(1000, idle, () => Promise.reject(new RangeError())),
    RangeError,
  );
});

test("withTimeout rejects even if the work ignores the signal", async () => {
  await assert.rejects(withTimeout(10, idle, never), { name: "TimeoutError" });
  const caller = new AbortController();
  setTimeout(() => caller.abort(), 10);
  await assert.rejects(withTimeout(60_000, caller.signal, never), { name: "AbortError" });
  await assert.rejects(withTimeout(60_000, AbortSignal.abort(), never), { name: "AbortError" });
});

test("withTimeout aborts the signal of the work", async () => {
  let received: AbortSignal | null = null;
  await assert.rejects(
    withTimeout(10, idle, (signal) => {
      received = signal;
      return never();
    }),
  );
  assert.equal((received as AbortSignal | null)?.aborted, true);
});

test("without a caller withTimeout gives the work no signal", async () => {
  assert.equal(await withTimeout(1000, null, (signal) => Promise.resolve(signal)), null);
  await assert.rejects(withTimeout(10, null, never), { name: "TimeoutError" });
});

test("withTimeout leaves no listener behind, even if the work never ends", async () => {
  const { signal } = new AbortController();
  await assert.rejects(withTimeout(10, signal, never), { name: "TimeoutError" });
  assert.equal(getEventListeners(signal, "abort").length, 0);
  await withTimeout(1000, signal, () => Promise.resolve(1));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
