package io.github.addrspec.spark;

import io.github.addrspec.Details;
import io.github.addrspec.Facts;
import org.apache.spark.sql.api.java.UDF1;

/**
 * A function of Spark that returns the identity of the mailbox of an address, a STRING or BINARY: {@link
 * Details#canonical canonical} of the details.
 *
 * <p>It returns null for null and for an address that is not valid. The checker is that of {@link AddrspecCheck}.
 */
public final class AddrspecCanonical implements UDF1<Object, String> {
  private static final long serialVersionUID = 1;

  @Override
  public String call(Object address) {
    try {
      Facts facts = address == null ? null
          : AddrspecCheck.either(address, AddrspecCheck.Holder.ADDRSPEC::explain, AddrspecCheck.Holder.ADDRSPEC::explain);
      return facts == null ? null : facts.details().flatMap(Details::canonical).orElse(null);
    } catch (IllegalArgumentException tooLong) {
      return null;
    }
  }
}
