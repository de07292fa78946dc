package io.github.addrspec;

import com.dylibso.chicory.runtime.ChicoryInterruptedException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Instances of the module, each used by one thread at a time. An instance is started when all others
 * are in use, up to the limit; then threads wait in the order in which they came.
 */
final class Pool {
  private final Supplier<Guest> start;
  private final Semaphore free;
  private final Deque<Guest> idle = new ArrayDeque<>(); // guarded by itself
  private volatile byte[] lists; // null for those in the module
  private volatile boolean closed;

  Pool(int limit, Supplier<Guest> start) {
    this.free = new Semaphore(limit, true);
    this.start = start;
  }

  /** Runs work with an instance that has the current lists. */
  <T> T use(Function<Guest, T> work) {
    return lend(
        guest -> {
          guest.setLists(lists);
          return work.apply(guest);
        });
  }

  /** Replaces the lists of all instances, or of none if the module refuses them. */
  synchronized void setLists(byte[] blob) {
    lend(
        guest -> {
          guest.setLists(blob);
          lists = blob; // the other instances take them over before their next check
          return null;
        });
  }

  private <T> T lend(Function<Guest, T> work) {
    free.acquireUninterruptibly();
    boolean interrupted = false;
    try {
      interrupted = Thread.interrupted(); // Chicory would stop the check
      return run(work);
    } catch (ChicoryInterruptedException e) {
      return Aside.call(() -> run(work));
    } finally {
      free.release();
      if (interrupted) {
        Thread.currentThread().interrupt(); // for the caller
      }
    }
  }

  /** Runs work and keeps the instance, unless it failed: then its memory may be inconsistent. */
  private <T> T run(Function<Guest, T> work) {
    if (closed) {
      throw new IllegalStateException("this Addrspec is closed");
    }
    Guest guest = null;
    try {
      guest = take();
      T result = work.apply(guest);
      keep(guest);
      return result;
    } catch (ListsRefusedException | PolicyRefusedException e) {
      keep(guest); // nothing has changed
      throw e;
    } catch (ModuleException | ChicoryInterruptedException e) {
      throw e;
    } catch (RuntimeException | StackOverflowError e) {
      throw new ModuleException("the module failed: " + e.getClass().getName(), e);
    }
  }

  private Guest take() {
    synchronized (idle) {
      Guest guest = idle.pollFirst();
      if (guest != null) {
        return guest;
      }
    }
    return start.get();
  }

  private void keep(Guest guest) {
    synchronized (idle) {
      if (!closed) {
        idle.addFirst(guest);
      }
    }
  }

  /** Releases the instances. Checks that run end as usual. */
  void close() {
    synchronized (idle) {
      closed = true;
      idle.clear();
    }
  }
}
