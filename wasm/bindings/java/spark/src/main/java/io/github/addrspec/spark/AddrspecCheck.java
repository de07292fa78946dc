package io.github.addrspec.spark;

import io.github.addrspec.Addrspec;
import io.github.addrspec.Facts;
import java.util.function.Function;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A function of Spark that returns a struct of the 16 facts about an address, a STRING or BINARY.
 *
 * <p>It returns null for null, and a struct with valid false and all else null for an address of more
 * than 1 MiB. Each executor has one checker, which starts with the first row and which all tasks share.
 */
public final class AddrspecCheck implements UDF1<Object, Row> {
  private static final long serialVersionUID = 1;

  /** The type of the result, as Spark's other languages write it. */
  public static final String DDL =
      "email STRING, valid BOOLEAN, normalized STRING, local_part STRING, alias BOOLEAN, ascii BOOLEAN,"
          + " role STRING, gibberish BOOLEAN, gibberish_score DOUBLE, domain STRING, mx BOOLEAN, disposable BOOLEAN,"
          + " public BOOLEAN, relay BOOLEAN, typo BOOLEAN, typo_suggestion STRING";

  /** The type of the result. */
  public static final DataType TYPE = StructType.fromDDL(DDL);

  /** Starts the checker when it is first used. */
  static final class Holder {
    static final Addrspec ADDRSPEC = new Addrspec();
  }

  @Override
  public Row call(Object address) {
    try {
      return address == null ? null : row(either(address, Holder.ADDRSPEC::check, Holder.ADDRSPEC::check));
    } catch (IllegalArgumentException tooLong) {
      return RowFactory.create(null, false, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
    }
  }

  /** Applies the function for the type of an address. */
  static <T> T either(Object address, Function<String, T> text, Function<byte[], T> bytes) {
    if (address instanceof String) {
      return text.apply((String) address);
    }
    if (address instanceof byte[]) {
      return bytes.apply((byte[]) address);
    }
    throw new ClassCastException("the address must be a STRING or BINARY, not " + address.getClass().getSimpleName());
  }

  private static Row row(Facts f) {
    return RowFactory.create(
        f.email(), f.valid(), f.normalized().orElse(null), f.localPart().orElse(null), f.alias(), f.ascii(),
        f.roleName().orElse(null), f.gibberish(), f.gibberishScore(), f.domain().orElse(null), f.mx().orElse(null),
        f.disposable(), f.publicProvider(), f.relay(), f.typo(), f.typoSuggestion().orElse(null));
  }
}
