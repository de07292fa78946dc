package io.github.addrspec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;

/**
 * What a caller has looked up about an address, for {@link Addrspec#verdict(String, String, Found)}.
 * A reason or an entry that needs something else is skipped.
 *
 * <pre>{@code
 * Found found = Found.NOTHING.mx(false).addressRecord(true);
 * }</pre>
 */
public final class Found {
  /** Nothing was looked up. */
  public static final Found NOTHING = new Found(0, false, new byte[0]);

  private static final int MAX_EXCHANGES = 64 << 10;

  /** The word of the interface: a bit for what was looked up, and one for what is there. */
  final int word;

  final boolean disposable;

  /** The names of the exchanges, each after its length. */
  final byte[] exchanges;

  private Found(int word, boolean disposable, byte[] exchanges) {
    this.word = word;
    this.disposable = disposable;
    this.exchanges = exchanges;
  }

  /**
   * Adds whether the domain has MX records.
   *
   * @param has whether it has
   * @return what was found then
   */
  public Found mx(boolean has) {
    return new Found(word & ~3 | (has ? 3 : 1), disposable, exchanges);
  }

  /**
   * Adds whether the domain has an address record, to which mail goes without MX records.
   *
   * @param has whether it has
   * @return what was found then
   */
  public Found addressRecord(boolean has) {
    return new Found(word & ~12 | (has ? 12 : 4), disposable, exchanges);
  }

  /**
   * Adds that the exchanges of the domain are those of throw-away services.
   *
   * @return what was found then
   */
  public Found disposableExchanges() {
    return new Found(word, true, exchanges);
  }

  /**
   * Adds the exchanges of the domain, for a policy that names some.
   *
   * @param names their names in lower case, with {@code *} for those that are left out
   * @return what was found then
   * @throws IllegalArgumentException if there are more than 64 KiB of them
   */
  public Found exchanges(Collection<String> names) {
    ByteBuffer records = ByteBuffer.allocate(MAX_EXCHANGES).order(ByteOrder.LITTLE_ENDIAN);
    for (String name : names) {
      byte[] text = name.getBytes(StandardCharsets.UTF_8);
      if (text.length > records.remaining() - 4) {
        throw new IllegalArgumentException("the exchanges have more than 64 KiB");
      }
      records.putInt(text.length).put(text);
    }
    return new Found(word, disposable, Arrays.copyOf(records.array(), records.position()));
  }
}
