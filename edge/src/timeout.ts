/**
 * Does work that must end: when the time is up or the caller is gone, the
 * signal is aborted and the promise rejects, whether or not the work heeds it.
 *
 * AbortSignal.any over AbortSignal.timeout would say the same in a line, but
 * Node 20 lets the inner signal be collected, and then no time is ever up.
 */
export async function within<T>(
  milliseconds: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const leave = () => controller.abort(new DOMException("The caller is gone.", "AbortError"));
  const timer = setTimeout(
    () => controller.abort(new DOMException("The time is up.", "TimeoutError")),
    milliseconds,
  );
  caller.addEventListener("abort", leave, { once: true });
  if (caller.aborted) leave();
  try {
    return await Promise.race([work(controller.signal), aborted(controller.signal)]);
  } finally {
    clearTimeout(timer);
    caller.removeEventListener("abort", leave);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
