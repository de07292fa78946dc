package io.github.addrspec.flink;

import io.github.addrspec.Details;
import io.github.addrspec.Facts;
import java.util.function.Function;

/**
 * A function of Flink that returns the identity of the mailbox of an address, a STRING or BYTES: {@link
 * Details#canonical canonical} of the details.
 *
 * <p>It returns null for null and for an address that is not valid. Each parallel instance has a checker with
 * one instance of the module.
 */
public final class AddrspecCanonical extends AddrspecFunction {
  private static final long serialVersionUID = 1;

  /**
   * Returns the identity of the mailbox of an address.
   *
   * @param address the address, or null
   * @return the identity, or null
   */
  public String eval(String address) {
    return canonical(address, addrspec::explain);
  }

  /**
   * Returns the identity of the mailbox of an address in UTF-8.
   *
   * @param address the address, or null
   * @return the identity, or null
   */
  public String eval(byte[] address) {
    return canonical(address, addrspec::explain);
  }

  private static <T> String canonical(T address, Function<T, Facts> explain) {
    try {
      return address == null ? null : explain.apply(address).details().flatMap(Details::canonical).orElse(null);
    } catch (IllegalArgumentException tooLong) {
      return null;
    }
  }
}
