import com.dylibso.chicory.compiler.MachineFactoryCompiler;
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
 * Checks email addresses with addrspec.wasm in Java, through Chicory, which is Java alone.
 *
 * <pre>
 *   mvn package
 *   java -jar target/addrspec-host.jar addrspec.wasm [-0] [ADDRESS...]
 * </pre>
 *
 * It answers each address, its arguments or the lines of standard input, with a line of JSON. With
 * -0, addresses in the input end with a zero octet instead. The interface it speaks is wasm/ABI.md.
 */
public final class Addrspec {
  private static final int ABI_MAJOR = 1;

  /** A flag: typo_suggestion is the whole corrected address, not its domain. */
  public static final int FULL_SUGGESTION = 1;

  private final WasmModule module;
  private final Function<Instance, Machine> code;
  private Instance instance;
  private ExportFunction check;
  private int in, capacity, out;

  /** Compiles the module, once for all instances. One thread uses a checker at a time. */
  public Addrspec(Path file) {
    module = Parser.parse(file);
    code = MachineFactoryCompiler.compile(module);
    start();
  }

  /** Starts an instance; the module imports nothing. */
  private void start() {
    instance = Instance.builder(module).withMachineFactory(code).build();
    int version = get("addrspec_abi_version");
    if (version >>> 16 != ABI_MAJOR) {
      throw new IllegalStateException("addrspec.wasm has interface version " + (version >>> 16));
    }
    in = get("addrspec_in_ptr");
    capacity = get("addrspec_in_cap");
    out = get("addrspec_out_ptr");
    check = instance.export("addrspec_check");
  }

  private int get(String name) {
    return (int) instance.export(name).apply()[0];
  }

  /** Returns one JSON object about the address, given in octets as it came. */
  public byte[] check(byte[] address, int flags) {
    if (address.length > capacity) {
      throw new IllegalArgumentException("the address is longer than the module takes");
    }
    try {
      instance.memory().write(in, address);
      int length = (int) check.apply(address.length, flags)[0];
      if (length < 0) {
        throw new IllegalStateException("addrspec.wasm answered " + length);
      }
      return instance.memory().readBytes(out, length); // a copy
    } catch (RuntimeException e) {
      start(); // what threw is not to be used again
      throw e;
    }
  }

  public static void main(String[] args) throws IOException {
    var checker = new Addrspec(Path.of(args[0]));
    boolean zero = args.length > 1 && args[1].equals("-0");
    int first = zero ? 2 : 1;
    try (var out = new BufferedOutputStream(System.out)) {
      for (int n = first; n < args.length; n++) {
        checker.answer(args[n].getBytes(StandardCharsets.UTF_8), out);
      }
      if (args.length == first) {
        checker.answerAll(new BufferedInputStream(System.in), out, zero);
      }
    }
  }

  private void answerAll(InputStream input, OutputStream output, boolean zero) throws IOException {
    int end = zero ? 0 : '\n';
    var address = new ByteArrayOutputStream();
    for (int octet; (octet = input.read()) >= 0; ) {
      if (octet != end) {
        address.write(octet);
        continue;
      }
      answer(zero ? address.toByteArray() : withoutReturn(address.toByteArray()), output);
      address.reset();
    }
    answer(address.toByteArray(), output);
  }

  private static byte[] withoutReturn(byte[] line) {
    boolean returns = line.length > 0 && line[line.length - 1] == '\r';
    return returns ? java.util.Arrays.copyOf(line, line.length - 1) : line;
  }

  private void answer(byte[] address, OutputStream output) throws IOException {
    if (address.length > 0) {
      output.write(check(address, 0));
      output.write('\n');
    }
  }
}
