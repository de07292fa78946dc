import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Function;

/**
 * Checks email addresses with addrspec.wasm and Chicory, an engine in pure Java.
 *
 * <pre>
 *   mvn package
 *   java -jar target/addrspec-host.jar addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS...]
 * </pre>
 *
 * It prints one line of JSON for each address: its arguments or, without any, the lines of standard
 * input. With -0, addresses in the input end with a zero byte instead; with -d, results have the
 * member details; with -l, the lists are those of a newer lists.blob, whose signature minisign
 * verifies. wasm/ABI.md specifies the interface.
 */
public final class Addrspec {
  private static final int ABI_MAJOR = 1;

  /** Flag: typo_suggestion is the whole corrected address, not its domain. */
  public static final int FULL_SUGGESTION = 1;

  /** Flag: the result has one more member, details: the evidence for it (interface 1.1). */
  public static final int DETAILS = 2;

  /** Thrown when the module refused a blob of lists; it still uses the previous ones. */
  public static final class ListsRefused extends RuntimeException {
    ListsRefused(String why) {
      super(why);
    }
  }

  private final WasmModule module;
  private final Function<Instance, Machine> code;
  private Instance instance;
  private ExportFunction check;
  private int in, capacity, out;
  private byte[] lists; // null for those in the module

  /** Compiles the module and starts an instance. Only one thread may use it at a time. */
  public Addrspec(Path file) {
    module = Parser.parse(file);
    code = MachineFactoryCompiler.compile(module);
    start();
  }

  /**
   * Starts an instance. The module has no imports. Its memory is a byte array, because checks then
   * take a quarter less time than with the default ByteBuffer.
   */
  private void start() {
    instance =
        Instance.builder(module).withMachineFactory(code).withMemoryFactory(ByteArrayMemory::new).build();
    int version = get("addrspec_abi_version");
    if (version >>> 16 != ABI_MAJOR) {
      throw new IllegalStateException("addrspec.wasm has interface version " + (version >>> 16) + ", not " + ABI_MAJOR);
    }
    in = get("addrspec_in_ptr");
    capacity = get("addrspec_in_cap");
    out = get("addrspec_out_ptr");
    check = instance.export("addrspec_check");
    if (lists != null) {
      install(lists);
    }
  }

  private int get(String name) {
    return (int) instance.export(name).apply()[0];
  }

  /** Returns the result for an address, a JSON object. The address is passed unchanged. */
  public byte[] check(byte[] address, int flags) {
    if (address.length > capacity) {
      throw new IllegalArgumentException("the address is longer than the input buffer");
    }
    try {
      instance.memory().write(in, address);
      int length = (int) check.apply(address.length, flags)[0];
      if (length < 0) {
        throw new IllegalStateException("addrspec_check returned " + length);
      }
      return instance.memory().readBytes(out, length); // a copy
    } catch (RuntimeException e) {
      start(); // discard the instance that failed
      throw e;
    }
  }

  /** Replaces the lists. Throws ListsRefused, and keeps them, if the module refuses the blob. */
  public void setLists(byte[] blob) {
    try {
      install(blob);
      lists = blob; // also of the next instance
    } catch (ListsRefused e) {
      throw e;
    } catch (RuntimeException e) {
      start(); // discard the instance that failed
      throw e;
    }
  }

  private void install(byte[] blob) {
    for (int at = 0; at < blob.length; at += capacity) {
      var piece = Arrays.copyOfRange(blob, at, Math.min(blob.length, at + capacity));
      instance.memory().write(in, piece);
      take(piece.length);
    }
    take(0);
  }

  /** Passes a piece of lists from the input; 0 installs them. */
  private void take(int length) {
    int code = (int) instance.export("addrspec_lists").apply(length)[0];
    if (code == -4) {
      int report = get("addrspec_report_ptr");
      int at = instance.memory().readInt(report + 44); // the sentence
      throw new ListsRefused(instance.memory().readString(out + at, instance.memory().readInt(report + 48)));
    }
    if (code == -5) {
      throw new ListsRefused("the lists are larger than 4 MiB");
    }
    if (code < 0) {
      throw new IllegalStateException("addrspec_lists returned " + code);
    }
  }

  public static void main(String[] args) throws IOException {
    var checker = new Addrspec(Path.of(args[0]));
    boolean zero = false;
    int flags = 0;
    int first = 1;
    for (; first < args.length && Set.of("-0", "-d", "-l").contains(args[first]); first++) {
      switch (args[first]) {
        case "-0" -> zero = true;
        case "-d" -> flags |= DETAILS;
        default -> checker.setLists(Files.readAllBytes(Path.of(args[++first])));
      }
    }
    try (var out = new BufferedOutputStream(System.out)) {
      for (int n = first; n < args.length; n++) {
        checker.print(args[n].getBytes(StandardCharsets.UTF_8), flags, out);
      }
      if (args.length == first) {
        checker.printAll(new BufferedInputStream(System.in), out, zero, flags);
      }
    }
  }

  private void printAll(InputStream input, OutputStream output, boolean zero, int flags)
      throws IOException {
    int end = zero ? 0 : '\n';
    var address = new ByteArrayOutputStream();
    for (int next; (next = input.read()) >= 0; ) {
      if (next != end) {
        address.write(next);
        continue;
      }
      print(zero ? address.toByteArray() : withoutReturn(address.toByteArray()), flags, output);
      address.reset();
    }
    print(address.toByteArray(), flags, output);
  }

  private static byte[] withoutReturn(byte[] line) {
    boolean crlf = line.length > 0 && line[line.length - 1] == '\r';
    return crlf ? Arrays.copyOf(line, line.length - 1) : line;
  }

  private void print(byte[] address, int flags, OutputStream output) throws IOException {
    if (address.length > 0) {
      output.write(check(address, flags));
      output.write('\n');
    }
  }
}
