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
  private final Deque<Tenant> idle = new ArrayDeque<>(); // guarded by itself
  private volatile byte[] lists; // null for those in the module
  private volatile boolean closed;

  /** An instance and the lists that it has. */
  private static final class Tenant {
    final Guest guest;
    byte[] lists;

    Tenant(Guest guest) {
      this.guest = guest;
    }

    /** Installs the lists unless the instance has them. */
    void update(byte[] current) {
      if (lists != current) {
        guest.setLists(current);
        lists = current;
      }
    }
  }

  Pool(int limit, Supplier<Guest> start) {
    this.free = new Semaphore(limit, true);
    this.start = start;
  }

  /** Runs work with an instance that has the current lists. */
  <T> T use(Function<Guest, T> work) {
    return lend(
        tenant -> {
          tenant.update(lists);
          return work.apply(tenant.guest);
        });
  }

  /** Replaces the lists of all instances, or of none if the module refuses them. */
  synchronized void setLists(byte[] blob) {
    lend(
        tenant -> {
          tenant.update(blob);
          lists = blob; // the other instances take them over before their next check
          return null;
        });
  }

  private <T> T lend(Function<Tenant, T> work) {
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

  private <T> T run(Function<Tenant, T> work) {
    requireOpen();
    try {
      return run(take(), work);
    } catch (ListsRefusedException
        | PolicyRefusedException
        | ModuleException
        | ChicoryInterruptedException e) {
      throw e;
    } catch (RuntimeException | StackOverflowError e) {
      throw new ModuleException("the module failed: " + e.getClass().getName(), e);
    }
  }

  /** Runs work and keeps the tenant, unless it failed: then its memory may be inconsistent. */
  private <T> T run(Tenant tenant, Function<Tenant, T> work) {
    T result;
    try {
      result = work.apply(tenant);
    } catch (ListsRefusedException | PolicyRefusedException e) {
      keep(tenant); // nothing has changed
      throw e;
    }
    keep(tenant);
    return result;
  }

  private Tenant take() {
    synchronized (idle) {
      Tenant tenant = idle.pollFirst();
      if (tenant != null) {
        return tenant;
      }
    }
    return new Tenant(start.get());
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("this Addrspec is closed");
    }
  }

  private void keep(Tenant tenant) {
    synchronized (idle) {
      if (!closed) {
        idle.addFirst(tenant);
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
