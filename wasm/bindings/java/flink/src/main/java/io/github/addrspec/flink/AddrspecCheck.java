package io.github.addrspec.flink;

import io.github.addrspec.Facts;
import java.util.function.Function;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.types.Row;

/**
 * A function of Flink that returns a row of the 16 facts about an address, a STRING or BYTES.
 *
 * <p>It returns null for null, and a row with valid false and all else null for an address of more than
 * 1 MiB. Each parallel instance has a checker with one instance of the module.
 */
@FunctionHint(output = @DataTypeHint(
    "ROW<email STRING, valid BOOLEAN, normalized STRING, local_part STRING, alias BOOLEAN, ascii BOOLEAN, role STRING,"
        + " gibberish BOOLEAN, gibberish_score DOUBLE, domain STRING, mx BOOLEAN, disposable BOOLEAN, `public` BOOLEAN,"
        + " relay BOOLEAN, typo BOOLEAN, typo_suggestion STRING>"))
public final class AddrspecCheck extends AddrspecFunction {
  private static final long serialVersionUID = 1;

  /**
   * Checks an address.
   *
   * @param address the address, or null
   * @return the facts, or null
   */
  public Row eval(String address) {
    return row(address, addrspec::check);
  }

  /**
   * Checks an address in UTF-8; other bytes are allowed.
   *
   * @param address the address, or null
   * @return the facts, or null
   */
  public Row eval(byte[] address) {
    return row(address, addrspec::check);
  }

  private static <T> Row row(T address, Function<T, Facts> check) {
    try {
      return address == null ? null : row(check.apply(address));
    } catch (IllegalArgumentException tooLong) {
      Row row = new Row(16);
      row.setField(1, false);
      return row;
    }
  }

  private static Row row(Facts f) {
    return Row.of(
        f.email(), f.valid(), f.normalized().orElse(null), f.localPart().orElse(null), f.alias(), f.ascii(),
        f.roleName().orElse(null), f.gibberish(), f.gibberishScore(), f.domain().orElse(null), f.mx().orElse(null),
        f.disposable(), f.publicProvider(), f.relay(), f.typo(), f.typoSuggestion().orElse(null));
  }
}
