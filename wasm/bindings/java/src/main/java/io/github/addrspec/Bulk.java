package io.github.addrspec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Checks many addresses in few calls of the module (addrspec_check_many in wasm/ABI.md). */
final class Bulk {
  /** The length before an address. */
  private static final int PREFIX = 4;

  /** The size of a call: larger ones are not faster, and their results leave the processor's cache. */
  private static final int PIECE = 16 << 10;

  private Bulk() {}

  /** Returns the facts of the addresses, in the same order. */
  static List<Facts> check(Pool pool, List<byte[]> addresses, int flags) {
    List<Facts> all = new ArrayList<>(addresses.size());
    while (all.size() < addresses.size()) {
      byte[] next = addresses.get(all.size());
      if (next.length > PIECE - PREFIX) {
        all.add(pool.use(guest -> guest.check(next, flags)));
        continue;
      }
      ByteBuffer records = ByteBuffer.allocate(PIECE).order(ByteOrder.LITTLE_ENDIAN);
      for (byte[] address : addresses.subList(all.size(), addresses.size())) {
        if (PREFIX + address.length > records.remaining()) {
          break;
        }
        records.putInt(address.length).put(address);
      }
      all.addAll(pool.use(guest -> guest.checkMany(records.array(), records.position(), flags)));
    }
    return all;
  }
}
