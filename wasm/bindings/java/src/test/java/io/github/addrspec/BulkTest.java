package io.github.addrspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** checkMany gives what check gives, whatever the sizes. */
class BulkTest {
  private static void assertSame(List<byte[]> addresses) {
    try (Addrspec addrspec = new Addrspec()) {
      List<Facts> all = addrspec.checkManyBytes(addresses);
      assertEquals(addresses.size(), all.size());
      for (int n = 0; n < all.size(); n++) {
        assertEquals(addrspec.check(addresses.get(n)), all.get(n), "address " + n);
      }
    }
  }

  @Test
  void explainsAsExplainDoes() {
    try (Addrspec addrspec = new Addrspec()) {
      List<Facts> all = addrspec.explainMany(List.of("info@gmial.com", "jane@@", "a".repeat(20_000)));
      assertEquals(addrspec.explain("info@gmial.com"), all.get(0));
      assertEquals(RefusalCode.SECOND_AT, all.get(1).details().orElseThrow().refusal().orElseThrow().code());
      assertTrue(all.get(2).details().isPresent());
    }
  }

  @Test
  void takesEmptyAddresses() {
    assertSame(List.of());
    List<byte[]> list = new ArrayList<>();
    for (int n = 0; n < 5000; n++) {
      list.add(new byte[0]);
    }
    assertSame(list);
  }

  /** The size of a call is 16 KiB; the module takes addresses of up to 1 MiB less 4 bytes in bulk. */
  @Test
  void takesSizesAroundTheLimits() {
    List<byte[]> list = new ArrayList<>();
    for (int limit : new int[] {64, 254, 4096, 8 << 10, 16 << 10, 1 << 20}) {
      for (int size = limit - 5; size <= limit; size++) {
        list.add(new byte[size]);
      }
    }
    assertSame(list);
  }

  @Test
  void takesRandomBytesOfRandomSizes() {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    List<byte[]> list = new ArrayList<>();
    for (int n = 0; n < 300; n++) {
      byte[] address = new byte[random.nextInt(1 << random.nextInt(15))];
      random.nextBytes(address);
      list.add(address);
    }
    System.out.println("seed " + seed);
    assertSame(list);
  }
}
