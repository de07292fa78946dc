package io.github.addrspec;

import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.WasmModule;
import io.github.addrspec.internal.Module;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * One instance of the module, behind the interface that wasm/ABI.md specifies. One thread at a time
 * may use it. After an exception other than {@link ListsRefusedException} and {@link
 * PolicyRefusedException} it must be discarded.
 */
final class Guest {
  /** Flag: typo_suggestion is the whole corrected address, not its domain. */
  static final int FULL_SUGGESTION = 1;

  /** Flag: the result has one more member, details. */
  static final int DETAILS = 2;

  /** Flag: each result in bulk comes with its report. */
  private static final int REPORTS = 4;

  /** The size of the largest blob of lists: 4 MiB. */
  static final int MAX_LISTS = 4 << 20;

  private static final int MAJOR = 2;
  private static final int REFUSED = -4;
  private static final int TOO_LARGE = -5;
  private static final int NO_POLICY = -7;

  /** The size of the report. */
  private static final int REPORT = 4 * 24;

  /** Where the report has the offset and the length of the host text, words 9 and 10. */
  private static final int HOST = 4 * 9;

  /** Where the report has the offset of what is wrong, word 12. */
  private static final int OFFSET = 4 * 12;

  /** Where the report has the offset and the length of its sentence, words 17 and 18. */
  private static final int SENTENCE = 4 * 17;

  private final Instance instance;
  private final ExportFunction check;
  private final ExportFunction checkMany;
  private final int input;
  private final int capacity;
  private final int output;
  private final int outputCapacity;
  private final int report;

  /** The policy that was used last, which the module does not evict, and its handle. */
  private String policy;

  private int handle;

  /** The lists, or null for those in the module. */
  private byte[] lists;

  /** Starts an instance of the module in this library. */
  static Guest start() {
    return new Guest(Module.load(), Module::create);
  }

  /**
   * Starts an instance. The module has no imports. Its memory is a byte array, because checks then
   * take 15 % less time than with Chicory's default, a ByteBuffer.
   */
  Guest(WasmModule module, Function<Instance, Machine> code) {
    instance =
        Instance.builder(module)
            .withMachineFactory(code)
            .withMemoryFactory(ByteArrayMemory::new)
            .build();
    int version = get("addrspec_abi_version");
    if (version >>> 16 != MAJOR) {
      String is = (version >>> 16) + "." + (version & 0xffff);
      throw new ModuleException("the module has interface version " + is + ", this library needs " + MAJOR);
    }
    input = get("addrspec_in_ptr");
    capacity = get("addrspec_in_cap");
    output = get("addrspec_out_ptr");
    outputCapacity = get("addrspec_out_cap");
    report = get("addrspec_report_ptr");
    check = instance.export("addrspec_check");
    checkMany = instance.export("addrspec_check_many");
  }

  private int get(String name) {
    return (int) instance.export(name).apply()[0];
  }

  /** Returns the facts of an address. */
  Facts check(byte[] address, int flags) {
    byte[] json = run(address, flags);
    ByteBuffer words = ByteBuffer.wrap(instance.memory().readBytes(report, REPORT));
    return new Facts(json, words.order(ByteOrder.LITTLE_ENDIAN), (flags & DETAILS) != 0);
  }

  /** Checks an address; returns the JSON. */
  private byte[] run(byte[] address, int flags) {
    instance.memory().write(input, address);
    return output("addrspec_check", (int) check.apply(address.length, flags)[0]);
  }

  /** Returns the facts of the addresses in as many of the records as fit, at least one. */
  List<Facts> checkMany(byte[] records, int length, int flags) {
    instance.memory().write(input, records, 0, length);
    byte[] written = output("addrspec_check_many", (int) checkMany.apply(length, flags | REPORTS)[0]);
    ByteBuffer results = ByteBuffer.wrap(written).order(ByteOrder.LITTLE_ENDIAN);
    List<Facts> all = new ArrayList<>();
    while (results.hasRemaining()) {
      byte[] json = new byte[results.getInt()];
      int texts = results.getInt();
      ByteBuffer words = results.slice().order(ByteOrder.LITTLE_ENDIAN);
      results.position(results.position() + REPORT);
      results.get(json);
      results.position(results.position() + texts);
      all.add(new Facts(json, words, (flags & DETAILS) != 0));
    }
    return all;
  }

  /** Returns the versions, a JSON object. */
  byte[] info() {
    return output("addrspec_info", get("addrspec_info"));
  }

  private byte[] output(String function, int length) {
    if (length < 0 || length > outputCapacity) {
      throw new ModuleException(function + " returned " + length);
    }
    return instance.memory().readBytes(output, length); // a copy
  }

  /** Replaces the lists unless it has them, or keeps its own if the module refuses the blob. */
  void setLists(byte[] blob) {
    if (blob != lists) {
      pass(blob, "addrspec_lists");
      lists = blob;
    }
  }

  /** Passes bytes in pieces of the input's capacity, then an empty one, for which it returns the result. */
  private int pass(byte[] bytes, String function) {
    ExportFunction take = instance.export(function);
    for (int at = 0; at < bytes.length; at += capacity) {
      byte[] piece = Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + capacity));
      instance.memory().write(input, piece);
      requireTaken(function, (int) take.apply(piece.length)[0]);
    }
    return requireTaken(function, (int) take.apply(0)[0]);
  }

  private int requireTaken(String function, int result) {
    if (result >= 0) {
      return result;
    }
    switch (result) {
      case REFUSED:
        throw new ListsRefusedException(sentence());
      case TOO_LARGE:
        throw new ListsRefusedException(ListsRefusedException.TOO_LARGE);
      case NO_POLICY:
        int offset = instance.memory().readInt(report + OFFSET);
        throw new PolicyRefusedException(sentence(), offset);
      default:
        throw new ModuleException(function + " returned " + result);
    }
  }

  /** Returns the verdict of a policy on an address, a JSON object. */
  byte[] verdict(String document, byte[] address, Found found) {
    if (!document.equals(policy)) {
      handle = pass(document.getBytes(StandardCharsets.UTF_8), "addrspec_load_policy");
      policy = document;
    }
    run(address, 0);
    byte[] subject = subject(address, found);
    instance.memory().write(input, subject);
    ExportFunction decide = instance.export("addrspec_decide");
    byte[] verdict = output("addrspec_decide", (int) decide.apply(handle, subject.length)[0]);
    return Arrays.copyOfRange(verdict, Math.min(4, verdict.length), verdict.length); // after its length
  }

  /** Returns what a policy needs of the last check, which was of this address. */
  private byte[] subject(byte[] address, Found found) {
    Memory memory = instance.memory();
    int facts = memory.readInt(report) | (found.disposable ? Facts.DISPOSABLE : 0);
    byte[] host = memory.readBytes(output + memory.readInt(report + HOST), memory.readInt(report + HOST + 4));
    byte[] valid = (facts & Facts.VALID) != 0 ? address : new byte[0]; // others may be too long
    return ByteBuffer.allocate(24 + host.length + valid.length + found.exchanges.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(facts)
        .putInt(memory.readInt(report + 4))
        .putInt(found.word)
        .putInt(host.length)
        .put(host)
        .putInt(valid.length)
        .put(valid)
        .putInt(found.exchanges.length)
        .put(found.exchanges)
        .array();
  }

  private String sentence() {
    Memory memory = instance.memory();
    int at = output + memory.readInt(report + SENTENCE);
    byte[] text = memory.readBytes(at, memory.readInt(report + SENTENCE + 4));
    return new String(text, StandardCharsets.UTF_8);
  }
}
