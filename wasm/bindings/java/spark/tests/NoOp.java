import org.apache.spark.sql.api.java.UDF1;

/** A function of Spark that returns what it gets, to compare the rate with. */
public final class NoOp implements UDF1<String, String> {
  private static final long serialVersionUID = 1;

  @Override
  public String call(String text) {
    return text;
  }
}
