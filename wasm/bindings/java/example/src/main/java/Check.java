import io.github.addrspec.Addrspec;
import io.github.addrspec.Facts;
import io.github.addrspec.Found;
import io.github.addrspec.ListsRefusedException;
import io.github.addrspec.PolicyRefusedException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A program that uses the library.
 *
 * <pre>
 *   mvn package
 *   java -jar target/check.jar [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS...]
 * </pre>
 *
 * It prints one line of JSON for each address: its arguments or, without any, the lines of standard
 * input. With -0, addresses in the input end with a zero byte instead; with -1, they are checked one
 * by one, not in bulk; with -d, results have the member details; with -l, the lists are those of a
 * newer lists.blob, whose signature minisign verifies. With -p, the input has six texts for each
 * address, which end with a zero byte: the document of a policy, the address, of mx, the address
 * record and disposable exchanges 1, 0 or nothing, as far as they were looked up, and the names of the
 * exchanges with spaces between; it prints the verdict or, if the document is no policy, the place, its offset and the sentence, with tabs between.
 */
public final class Check {
  /** The addresses of one call. */
  private static final int MANY = 1000;

  private static final Set<String> OPTIONS = Set.of("-0", "-1", "-d", "-l", "-p");

  private final Addrspec addrspec;
  private final Set<String> options;
  private final OutputStream output;

  private Check(Addrspec addrspec, Set<String> options, OutputStream output) {
    this.addrspec = addrspec;
    this.options = options;
    this.output = output;
  }

  public static void main(String[] args) {
    try {
      run(new ArrayDeque<>(List.of(args)));
    } catch (IOException | ListsRefusedException | IllegalArgumentException e) {
      System.err.println("check: " + (e instanceof IOException ? e : e.getMessage()));
      System.exit(1);
    }
  }

  private static void run(Deque<String> args) throws IOException {
    try (Addrspec addrspec = new Addrspec();
        OutputStream output = new BufferedOutputStream(System.out)) {
      Check check = new Check(addrspec, options(args, addrspec), output);
      if (check.options.contains("-p")) {
        check.decideInput();
      } else if (args.isEmpty()) {
        check.printInput(new BufferedInputStream(System.in));
      }
      for (String address : args) {
        check.print(List.of(address.getBytes(StandardCharsets.UTF_8)));
      }
    }
  }

  /** Takes the options from the arguments, and gives the lists to the library. */
  private static Set<String> options(Deque<String> args, Addrspec addrspec) throws IOException {
    Set<String> options = new HashSet<>();
    while (!args.isEmpty() && OPTIONS.contains(args.peek())) {
      String option = args.remove();
      options.add(option);
      if (option.equals("-l")) {
        if (args.isEmpty()) {
          throw new IllegalArgumentException("-l needs the name of a file of lists");
        }
        addrspec.setLists(Files.readAllBytes(Path.of(args.remove())));
      }
    }
    return options;
  }

  /** Prints a verdict for each six texts of the input. */
  private void decideInput() throws IOException {
    String[] texts = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).split("\0", -1);
    for (int n = 0; n + 6 < texts.length; n += 6) {
      output.write((decide(texts, n) + "\n").getBytes(StandardCharsets.UTF_8));
    }
  }

  private String decide(String[] texts, int at) {
    Found found = Found.NOTHING;
    if (!texts[at + 2].isEmpty()) {
      found = found.mx(texts[at + 2].equals("1"));
    }
    if (!texts[at + 3].isEmpty()) {
      found = found.addressRecord(texts[at + 3].equals("1"));
    }
    if (texts[at + 4].equals("1")) {
      found = found.disposableExchanges();
    }
    if (!texts[at + 5].isEmpty()) {
      found = found.exchanges(List.of(texts[at + 5].split(" ")));
    }
    try {
      return addrspec.verdict(texts[at + 1], texts[at], found).json();
    } catch (PolicyRefusedException e) {
      return e.place() + "\t" + e.offset() + "\t" + e.getMessage();
    }
  }

  private void printInput(InputStream input) throws IOException {
    List<byte[]> addresses = new ArrayList<>();
    for (byte[] next; (next = read(input)) != null; ) {
      if (next.length > 0) {
        addresses.add(next);
      }
      if (addresses.size() == MANY) {
        print(addresses);
        addresses.clear();
      }
    }
    print(addresses);
  }

  /** Returns the next address without its end, or null at the end of the input. */
  private byte[] read(InputStream input) throws IOException {
    boolean zero = options.contains("-0");
    int end = zero ? 0 : '\n';
    ByteArrayOutputStream address = new ByteArrayOutputStream();
    int next = input.read();
    if (next < 0) {
      return null;
    }
    for (; next >= 0 && next != end; next = input.read()) {
      address.write(next);
    }
    return zero ? address.toByteArray() : withoutReturn(address.toByteArray());
  }

  private static byte[] withoutReturn(byte[] line) {
    boolean crlf = line.length > 0 && line[line.length - 1] == '\r';
    return crlf ? Arrays.copyOf(line, line.length - 1) : line;
  }

  private void print(List<byte[]> addresses) throws IOException {
    for (Facts facts : check(addresses)) {
      output.write(facts.jsonBytes());
      output.write('\n');
    }
  }

  private List<Facts> check(List<byte[]> addresses) {
    boolean details = options.contains("-d");
    if (!options.contains("-1")) {
      return details ? addrspec.explainManyBytes(addresses) : addrspec.checkManyBytes(addresses);
    }
    List<Facts> all = new ArrayList<>();
    for (byte[] address : addresses) {
      all.add(details ? addrspec.explain(address) : addrspec.check(address));
    }
    return all;
  }
}
