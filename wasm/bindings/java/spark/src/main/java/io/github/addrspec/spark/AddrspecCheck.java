package io.github.addrspec.spark;

import io.github.addrspec.Addrspec;
import io.github.addrspec.Facts;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A function of Spark that returns a struct of the 16 facts about an address, a STRING or BINARY.
 *
 * <p>It returns null for null, and a row with valid false and all else null for an address of more than
 * 1 MiB. Each executor has one checker, which all its tasks use.
 */
public final class AddrspecCheck implements UDF1<Object, Row> {
  private static final long serialVersionUID = 1;

  /** The type of the result. */
  public static final DataType TYPE = type();

  /** Starts at the first check in a process. */
  private static final class Holder {
    static final Addrspec ADDRSPEC = new Addrspec();
  }

  @Override
  public Row call(Object address) {
    if (address == null) {
      return null;
    }
    byte[] bytes = bytes(address);
    return bytes.length > Addrspec.MAX_ADDRESS ? tooLong() : row(Holder.ADDRSPEC.check(bytes));
  }

  private static byte[] bytes(Object address) {
    if (address instanceof byte[]) {
      return (byte[]) address;
    }
    if (address instanceof String) {
      return ((String) address).getBytes(StandardCharsets.UTF_8);
    }
    throw new IllegalArgumentException("address must be a STRING or BINARY, not " + address.getClass().getSimpleName());
  }

  private static Row tooLong() {
    Object[] values = new Object[16];
    values[1] = false;
    return RowFactory.create(values);
  }

  private static Row row(Facts f) {
    return RowFactory.create(
        f.email(), f.valid(), f.normalized().orElse(null), f.localPart().orElse(null), f.alias(), f.ascii(),
        f.roleName().orElse(null), f.gibberish(), f.gibberishScore(), f.domain().orElse(null), f.mx().orElse(null),
        f.disposable(), f.publicProvider(), f.relay(), f.typo(), f.typoSuggestion().orElse(null));
  }

  private static StructType type() {
    StructType type = new StructType();
    String[] texts = {"email", "normalized", "local_part", "role", "domain", "typo_suggestion"};
    for (String name : new String[] {"email", "valid", "normalized", "local_part", "alias", "ascii", "role", "gibberish",
        "gibberish_score", "domain", "mx", "disposable", "public", "relay", "typo", "typo_suggestion"}) {
      DataType kind = java.util.Arrays.asList(texts).contains(name) ? DataTypes.StringType
          : name.equals("gibberish_score") ? DataTypes.DoubleType : DataTypes.BooleanType;
      type = type.add(name, kind);
    }
    return type;
  }
}
