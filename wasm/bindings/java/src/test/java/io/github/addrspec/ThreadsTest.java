package io.github.addrspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** All threads may call one checker. */
class ThreadsTest {
  private static final List<String> ADDRESSES =
      List.of("jane@example.org", "info@gmial.com", "x@@", "jos\u00e9@b\u00fccher.example", "a@mailinator.com");

  @Test
  void giveTheSameFactsAndStartNoMoreInstances() throws Exception {
    AtomicInteger started = new AtomicInteger();
    Supplier<Guest> start =
        () -> {
          started.incrementAndGet();
          return Guest.start();
        };
    try (Addrspec one = new Addrspec();
        Addrspec shared = new Addrspec(Addrspec.builder().instances(3), start)) {
      List<Facts> want = one.checkMany(ADDRESSES);
      runAll(16, () -> assertRounds(shared, want));
    }
    assertTrue(started.get() <= 3, "instances: " + started);
  }

  private static Void assertRounds(Addrspec shared, List<Facts> want) {
    for (int n = 0; n < 300; n++) {
      int at = n % ADDRESSES.size();
      assertEquals(want.get(at), shared.check(ADDRESSES.get(at)));
      if (n % 20 == 0) {
        assertEquals(want, shared.checkMany(ADDRESSES));
      }
    }
    return null;
  }

  private static void runAll(int count, Callable<Void> work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    List<Future<Void>> all = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      all.add(threads.submit(work));
    }
    for (Future<Void> one : all) {
      one.get();
    }
    threads.shutdown();
  }

  @Test
  void mayCloseWhileOthersCheck() throws Exception {
    Addrspec shared = Addrspec.builder().instances(2).build();
    AtomicInteger checked = new AtomicInteger();
    Callable<Void> work =
        () -> {
          try {
            while (true) {
              assertTrue(shared.check("jane@example.org").valid());
              if (checked.incrementAndGet() == 100) {
                shared.close();
              }
            }
          } catch (IllegalStateException closed) {
            return null;
          }
        };
    runAll(8, work);
    assertTrue(checked.get() >= 100);
  }

  @Test
  void mayBeInterrupted() throws Exception {
    try (Addrspec shared = new Addrspec()) {
      Facts want = shared.check("info@gmial.com");
      inThread(
          0,
          () -> {
            Thread.currentThread().interrupt();
            assertEquals(want, shared.check("info@gmial.com"));
            assertEquals(List.of(want), shared.checkMany(List.of("info@gmial.com")));
            assertTrue(Thread.interrupted(), "the interrupt is lost");
            return null;
          });
    }
  }

  /** An interrupt in the middle of a check neither stops it nor is lost. */
  @Test
  void mayBeInterruptedDuringAnyCheck() throws Exception {
    String longest = "j".repeat(Addrspec.MAX_ADDRESS); // takes milliseconds
    try (Addrspec shared = new Addrspec()) {
      Facts want = shared.check(longest);
      FutureTask<Integer> task = new FutureTask<>(() -> countInterrupts(shared, longest, want));
      Thread thread = new Thread(task);
      thread.start();
      int sent = 0;
      for (; !task.isDone(); sent++) {
        thread.interrupt();
        Thread.sleep(1);
      }
      assertTrue(task.get() > 2, task.get() + " of " + sent + " interrupts");
    }
  }

  private static int countInterrupts(Addrspec shared, String address, Facts want) {
    int interrupts = 0;
    for (int n = 0; n < 30; n++) {
      assertEquals(want, shared.check(address));
      interrupts += Thread.interrupted() ? 1 : 0;
    }
    return interrupts;
  }

  /** The smallest stack that the JVM gives is not enough for anything; 128 KiB is. */
  @Test
  void mayHaveSmallStacks() throws Exception {
    try (Addrspec shared = new Addrspec()) {
      Facts want = shared.explain("support-uk@gmial.com");
      inThread(
          128 << 10,
          () -> {
            assertEquals(want, shared.explain("support-uk@gmial.com"));
            return null;
          });
    }
  }

  /** A stack that is nearly full makes a check fail, and no later one. */
  @Test
  void survivesAFullStack() throws Exception {
    try (Addrspec shared = Addrspec.builder().instances(1).build()) {
      Facts want = shared.check("info@gmial.com");
      inThread(
          160 << 10,
          () -> {
            fill(shared, want);
            return null;
          });
      assertEquals(want, shared.check("info@gmial.com"));
    }
  }

  /** Checks at each depth of the stack until it is full. */
  private static void fill(Addrspec shared, Facts want) {
    try {
      assertEquals(want, shared.check("info@gmial.com"));
      fill(shared, want);
    } catch (StackOverflowError | ModuleException e) {
      assertFalse(String.valueOf(e.getMessage()).contains("gmial"));
    }
  }

  private static void inThread(long stack, Callable<Void> work) throws Exception {
    FutureTask<Void> task = new FutureTask<>(work);
    Thread thread = new Thread(null, task, "test", stack);
    thread.start();
    task.get();
    thread.join();
  }
}
