package io.github.addrspec.flink;

import io.github.addrspec.Addrspec;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;

/** A function each parallel instance of which has a checker with one instance of the module. */
abstract class AddrspecFunction extends ScalarFunction {
  private static final long serialVersionUID = 1;

  /** The checker, from open to close. */
  transient Addrspec addrspec;

  @Override
  public void open(FunctionContext context) {
    addrspec = Addrspec.builder().instances(1).build();
  }

  @Override
  public void close() {
    if (addrspec != null) {
      addrspec.close();
    }
  }
}
