package io.github.addrspec.flink;

import io.github.addrspec.Addrspec;
import io.github.addrspec.Found;
import io.github.addrspec.Verdict;
import java.util.function.Supplier;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.SpecializedFunction;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.types.Row;

/**
 * A function of Flink that returns a row of what a policy decides about an address, a STRING or BYTES,
 * without lookups.
 *
 * <p>The policy is the text of its document: the same for all rows, or a column. The function returns
 * null for null, and block with the reason invalid for an address of more than 1 MiB. A document that
 * is no policy fails the query, with its place; if it is a literal, before any task. Each parallel
 * instance has a checker with one instance of the module.
 */
@FunctionHint(output = @DataTypeHint("ROW<action STRING, reason STRING, rule STRING>"))
public final class AddrspecVerdict extends AddrspecFunction implements SpecializedFunction {
  private static final long serialVersionUID = 1;

  /** Verifies the policy if it is known while the query is planned. */
  @Override
  public UserDefinedFunction specialize(SpecializedContext context) {
    CallContext call = context.getCallContext();
    if (call.isArgumentLiteral(1)) {
      call.getArgumentValue(1, String.class).ifPresent(AddrspecVerdict::verify);
    }
    return this;
  }

  private static void verify(String policy) {
    try (Addrspec once = new Addrspec()) {
      once.verdict("", policy);
    }
  }

  /**
   * Decides about an address.
   *
   * @param address the address, or null
   * @param policy the JSON document, or null
   * @return action, reason and rule, or null
   */
  public Row eval(String address, String policy) {
    return address == null || policy == null ? null : row(() -> addrspec.verdict(address, policy));
  }

  /**
   * Decides about an address in UTF-8; other bytes are allowed.
   *
   * @param address the address, or null
   * @param policy the JSON document, or null
   * @return action, reason and rule, or null
   */
  public Row eval(byte[] address, String policy) {
    return address == null || policy == null ? null : row(() -> addrspec.verdict(address, policy, Found.NOTHING));
  }

  private static Row row(Supplier<Verdict> decide) {
    try {
      Verdict verdict = decide.get();
      return Row.of(verdict.action(), verdict.reason().orElse(null), verdict.rule().orElse(null));
    } catch (IllegalArgumentException tooLong) {
      return Row.of("block", "invalid", null);
    }
  }
}
