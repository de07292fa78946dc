import org.apache.flink.table.functions.ScalarFunction;

/** A function of Flink that returns what it gets, to compare the rate with. */
public final class NoOp extends ScalarFunction {
  private static final long serialVersionUID = 1;

  public String eval(String text) {
    return text;
  }
}
