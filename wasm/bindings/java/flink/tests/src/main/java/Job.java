import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Checks addresses in a Flink of its own, with two parallel tasks.
 *
 * <p>{@code Job facts FILE} prints the number and the facts of each address in a file, where each ends
 * with a zero byte; {@code Job verdicts FILE} the number and the verdict of each policy and address, two
 * such texts; {@code Job query SQL} prints the rows of a query; {@code Job million} checks a million
 * rows, and prints rows per second beside a function that does nothing.
 */
public final class Job {
  private static final int ROWS = 1_000_000;

  private final StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
  private final StreamTableEnvironment tables;

  private Job() {
    env.setParallelism(2);
    env.setRuntimeMode(RuntimeExecutionMode.BATCH); // the rows end, so a sum is one row
    tables = StreamTableEnvironment.create(env);
    tables.executeSql("CREATE TEMPORARY FUNCTION addrspec_check AS 'io.github.addrspec.flink.AddrspecCheck'");
    tables.executeSql("CREATE TEMPORARY FUNCTION addrspec_canonical AS 'io.github.addrspec.flink.AddrspecCanonical'");
    tables.executeSql("CREATE TEMPORARY FUNCTION addrspec_verdict AS 'io.github.addrspec.flink.AddrspecVerdict'");
    tables.executeSql("CREATE TEMPORARY FUNCTION nothing AS 'NoOp'");
    tables.createTemporaryView("numbers", env.fromSequence(0, ROWS - 1), Schema.newBuilder().columnByExpression("id", "f0").build());
    tables.executeSql("CREATE TEMPORARY VIEW people AS"
        + " SELECT CASE WHEN MOD(id, 100) > 0 THEN 'jane.doe' || CAST(id AS STRING) || '@gmial.com' END AS email FROM numbers");
  }

  public static void main(String[] args) throws Exception {
    Job job = new Job();
    switch (args[0]) {
      case "facts": job.facts(Path.of(args[1])); break;
      case "verdicts": job.verdicts(Path.of(args[1])); break;
      case "query": job.print(args[1]); break;
      default: job.million();
    }
  }

  private void facts(Path file) throws Exception {
    List<Row> rows = new ArrayList<>();
    for (String address : Files.readString(file, ISO_8859_1).split("\0")) {
      rows.add(Row.of(rows.size(), address.getBytes(ISO_8859_1)));
    }
    tables.createTemporaryView("given", env.fromData(rows, Types.ROW_NAMED(new String[] {"n", "email"}, Types.INT, Types.PRIMITIVE_ARRAY(Types.BYTE))));
    printStructs("SELECT n, addrspec_check(email) AS f FROM given");
  }

  private void verdicts(Path file) throws Exception {
    List<Row> rows = new ArrayList<>();
    String[] texts = Files.readString(file).split("\0", -1);
    for (int n = 0; n + 2 < texts.length; n += 2) {
      rows.add(Row.of(n / 2, texts[n], texts[n + 1]));
    }
    tables.createTemporaryView("given", env.fromData(rows, Types.ROW_NAMED(new String[] {"n", "policy", "email"}, Types.INT, Types.STRING, Types.STRING)));
    printStructs("SELECT n, addrspec_verdict(email, policy) AS f FROM given");
  }

  /** Prints the rows of a query, a number n and a row f, as JSON. */
  private void printStructs(String query) throws Exception {
    ObjectMapper json = new ObjectMapper();
    try (CloseableIterator<Row> results = tables.executeSql(query).collect()) {
      while (results.hasNext()) {
        Row result = results.next();
        Row facts = result.getFieldAs("f");
        Map<String, Object> fields = new LinkedHashMap<>(Map.of("n", result.getField("n")));
        facts.getFieldNames(true).forEach(name -> fields.put(name, facts.getField(name)));
        System.out.println(json.writeValueAsString(fields));
      }
    }
  }

  private void print(String query) throws Exception {
    try (CloseableIterator<Row> rows = tables.executeSql(query).collect()) {
      while (rows.hasNext()) {
        System.out.println(rows.next().getField(0));
      }
    }
  }

  private void million() throws Exception {
    tables.executeSql("CREATE TEMPORARY TABLE facts (" + "f ROW<email STRING, valid BOOLEAN, normalized STRING,"
        + " local_part STRING, alias BOOLEAN, ascii BOOLEAN, role STRING, gibberish BOOLEAN, gibberish_score DOUBLE,"
        + " domain STRING, mx BOOLEAN, disposable BOOLEAN, `public` BOOLEAN, relay BOOLEAN, typo BOOLEAN,"
        + " typo_suggestion STRING>) WITH ('connector' = 'blackhole')");
    tables.executeSql("CREATE TEMPORARY TABLE texts (t STRING) WITH ('connector' = 'blackhole')");
    insert("texts", "nothing(email)"); // loads code
    double nothing = insert("texts", "nothing(email)");
    double facts = insert("facts", "addrspec_check(email)");
    tables.executeSql("CREATE TEMPORARY TABLE verdicts (v ROW<action STRING, reason STRING, rule STRING>) WITH ('connector' = 'blackhole')");
    double verdicts = insert("verdicts", "addrspec_verdict(email, '{\"block\": {\"reasons\": [\"disposable\", \"typo\"]}}')");
    System.out.printf("Flink: %,d rows; no-op %,.0f rows/s, facts %,.0f rows/s, verdicts %,.0f rows/s%n", ROWS, ROWS / nothing, ROWS / facts, ROWS / verdicts);
  }

  /** Returns the seconds that a call of a function takes for all rows. */
  private double insert(String table, String call) throws Exception {
    long start = System.nanoTime();
    tables.executeSql("INSERT INTO " + table + " SELECT " + call + " FROM people").await();
    return (System.nanoTime() - start) / 1e9;
  }
}
