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
import java.nio.file.Path;
import java.util.function.Function;

/**
 * Checks email addresses with addrspec.wasm and Chicory, an engine in pure Java.
 *
 * <pre>
 *   mvn package
 *   java -jar target/addrspec-host.jar addrspec.wasm [-0] [-d] [ADDRESS...]
 * </pre>
 *
 * It prints one line of JSON for each address: its arguments or, without any, the lines of standard
 * input. With -0, addresses in the input end with a zero byte instead; with -d, results have the
 * member details. wasm/ABI.md specifies the interface.
 */
public final class Addrspec {
  private static final int ABI_MAJOR = 1;

  /** Flag: typo_suggestion is the whole corrected address, not its domain. */
  public static final int FULL_SUGGESTION = 1;

  /** Flag: the result has one more member, details: the evidence for it (interface 1.1). */
  public static final int DETAILS = 2;

  private final WasmModule module;
  private final Function<Instance, Machine> code;
  private Instance instance;
  private ExportFunction check;
  private int in, capacity, out;

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

  public static void main(String[] args) throws IOException {
    var checker = new Addrspec(Path.of(args[0]));
    boolean zero = false;
    int flags = 0;
    int first = 1;
    for (; first < args.length && (args[first].equals("-0") || args[first].equals("-d")); first++) {
      if (args[first].equals("-0")) {
        zero = true;
      } else {
        flags |= DETAILS;
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
    return crlf ? java.util.Arrays.copyOf(line, line.length - 1) : line;
  }

  private void print(byte[] address, int flags, OutputStream output) throws IOException {
    if (address.length > 0) {
      output.write(check(address, flags));
      output.write('\n');
    }
  }
}
