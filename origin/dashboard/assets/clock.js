/** Waiting that can be ended, and a clock that tests can replace. */

/**
 * @typedef {{ now: () => number, sleep: (ms: number, signal: AbortSignal) => Promise<void> }} Clock
 */

/** @type {Clock} */
export const realClock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const end = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", end);
        resolve();
      }, ms);
      signal.addEventListener("abort", end, { once: true });
    }),
};
