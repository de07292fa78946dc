package io.github.addrspec;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures the speed: of the start, and of checks one by one and in bulk. Its arguments are a file of
 * addresses, each terminated by a zero byte, and how often to check them all. It prints the time and
 * the processor time of its thread, in which other programs and the JIT compiler do not count.
 */
final class Speed {
  private static final int MANY = 1000;

  private Speed() {}

  public static void main(String[] args) throws Exception {
    List<byte[]> list = new ArrayList<>();
    for (String address : Files.readString(Path.of(args[0]), StandardCharsets.ISO_8859_1).split("\0")) {
      list.add(address.getBytes(StandardCharsets.ISO_8859_1));
    }
    try (Addrspec addrspec = new Addrspec()) {
      print("start and first check", 1, list.subList(0, 1), one -> addrspec.check(one.get(0)));
      print("next 1,000", MANY, list.subList(0, MANY), some -> oneByOne(addrspec, some));
      for (int n = Integer.parseInt(args[1]); n > 0; n--) {
        print("one by one", list.size(), list, all -> oneByOne(addrspec, all));
        print("in bulk", list.size(), list, all -> inBulk(addrspec, all));
      }
    }
  }

  private static void oneByOne(Addrspec addrspec, List<byte[]> list) {
    for (byte[] address : list) {
      addrspec.check(address);
    }
  }

  private static void inBulk(Addrspec addrspec, List<byte[]> list) {
    for (int at = 0; at < list.size(); at += MANY) {
      addrspec.checkManyBytes(list.subList(at, Math.min(list.size(), at + MANY)));
    }
  }

  private static void print(String what, int count, List<byte[]> list, Consumer<List<byte[]>> work) {
    ThreadMXBean thread = ManagementFactory.getThreadMXBean();
    long start = System.nanoTime();
    long cpu = thread.getCurrentThreadCpuTime();
    work.accept(list);
    cpu = thread.getCurrentThreadCpuTime() - cpu;
    long time = System.nanoTime() - start;
    System.out.printf("%s: %d ms, processor %d ms, %.1f us each%n", what, time / 1000000, cpu / 1000000, cpu / 1e3 / count);
  }
}
