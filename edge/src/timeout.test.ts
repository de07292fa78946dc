import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { withTimeout } from "./timeout.ts";

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
