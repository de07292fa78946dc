package io.github.addrspec;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Runs work in a thread of its own, which no other code can interrupt. Chicory stops a check when its
 * thread is interrupted; but the checks are short, and their callers expect facts.
 */
final class Aside {
  private Aside() {}

  /** Returns the result of work. An interrupt of this thread is kept for the caller. */
  static <T> T call(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "addrspec");
    thread.setDaemon(true);
    thread.start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw unchecked(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RuntimeException unchecked(Throwable cause) {
    if (cause instanceof Error) {
      throw (Error) cause;
    }
    return cause instanceof RuntimeException ? (RuntimeException) cause : new IllegalStateException(cause);
  }
}
