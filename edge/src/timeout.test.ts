import assert from "node:assert/strict";
import { test } from "node:test";

import { within } from "./timeout.ts";

const never = () => new Promise<never>(() => undefined);
const nobody = new AbortController().signal;

test("work in time", async () => {
  assert.equal(await within(1000, nobody, () => Promise.resolve(1)), 1);
  await assert.rejects(
    within(1000, nobody, () => Promise.reject(new RangeError())),
    RangeError,
  );
});

test("work that heeds no signal ends all the same", async () => {
  await assert.rejects(within(10, nobody, never), { name: "TimeoutError" });
  const caller = new AbortController();
  setTimeout(() => caller.abort(), 10);
  await assert.rejects(within(60_000, caller.signal, never), { name: "AbortError" });
  await assert.rejects(within(60_000, AbortSignal.abort(), never), { name: "AbortError" });
});

test("the signal reaches the work", async () => {
  let seen: AbortSignal | undefined;
  await assert.rejects(
    within(10, nobody, (signal) => {
      seen = signal;
      return never();
    }),
  );
  assert.equal(seen?.aborted, true);
});
