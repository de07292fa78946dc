/**
 * Runs work for a limited time. When the time is up or the caller aborts,
 * withTimeout aborts the signal of the work and rejects, even if the work ignores
 * its signal.
 *
 * AbortSignal.any over AbortSignal.timeout would do the same in a line, but
 * Node 20 may garbage-collect the inner signal, and then the timeout never fires.
 */
export async function withTimeout<T>(
  milliseconds: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (message: string, name: string) =>
    controller.abort(new DOMException(message, name));
  const onCallerAbort = () => abort("The caller aborted.", "AbortError");
  const timer = setTimeout(() => abort("The time is up.", "TimeoutError"), milliseconds);
  caller.addEventListener("abort", onCallerAbort, { once: true });
  if (caller.aborted) onCallerAbort();
  try {
    return await Promise.race([work(controller.signal), rejectOnAbort(controller.signal)]);
  } finally {
    clearTimeout(timer);
    caller.removeEventListener("abort", onCallerAbort);
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
