package io.github.addrspec.spark;

import io.github.addrspec.Addrspec;
import io.github.addrspec.Found;
import io.github.addrspec.Verdict;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A function of Spark that returns a struct of what a policy decides about an address, a STRING or
 * BINARY, without lookups.
 *
 * <p>The policy is the text of its document: the same for all rows, or a column. The function returns
 * null for null, and block with the reason invalid for an address of more than 1 MiB. A document that
 * is no policy fails the query, with its place.
 */
public final class AddrspecVerdict implements UDF2<Object, String, Row> {
  private static final long serialVersionUID = 1;

  /** The type of the result, as Spark's other languages write it. */
  public static final String DDL = "action STRING, reason STRING, rule STRING";

  /** The type of the result. */
  public static final DataType TYPE = StructType.fromDDL(DDL);

  @Override
  public Row call(Object address, String policy) {
    if (address == null || policy == null) {
      return null;
    }
    try {
      Addrspec addrspec = AddrspecCheck.Holder.ADDRSPEC;
      Verdict verdict =
          AddrspecCheck.either(
              address,
              text -> addrspec.verdict(text, policy),
              bytes -> addrspec.verdict(bytes, policy, Found.NOTHING));
      return RowFactory.create(verdict.action(), verdict.reason().orElse(null), verdict.rule().orElse(null));
    } catch (IllegalArgumentException tooLong) {
      return RowFactory.create("block", "invalid", null);
    }
  }
}
