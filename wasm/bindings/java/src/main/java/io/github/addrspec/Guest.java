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
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

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

  /** The size of the largest blob of lists: 4 MiB. */
  static final int MAX_LISTS = 4 << 20;

  private static final int MAJOR = 2;
  private static final int REFUSED = -4;
  private static final int TOO_LARGE = -5;
  private static final int NO_POLICY = -7;

  /** How many policies an instance has. */
  private static final int SLOTS = 16;

  /** How many bytes their documents have together, more than the longest one. */
  static final int POLICY_BYTES = 4 << 20;

  /** The bit of word 0 of the report that is disposable. */
  private static final int DISPOSABLE = 1 << 5;

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

  /** The policies by their documents, the last used one last. */
  final Map<String, Loaded> policies = new LinkedHashMap<>(SLOTS, 0.75f, true);

  /** Where the instance has a policy, and the size of its document. */
  static final class Loaded {
    final int slot;
    final int bytes;

    Loaded(int slot, int bytes) {
      this.slot = slot;
      this.bytes = bytes;
    }
  }

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
    requireVersion(get("addrspec_abi_version"));
    input = get("addrspec_in_ptr");
    capacity = get("addrspec_in_cap");
    output = get("addrspec_out_ptr");
    outputCapacity = get("addrspec_out_cap");
    check = instance.export("addrspec_check");
    checkMany = instance.export("addrspec_check_many");
  }

  private static void requireVersion(int version) {
    if (version >>> 16 != MAJOR) {
      String is = (version >>> 16) + "." + (version & 0xffff);
      throw new ModuleException("the module has interface version " + is + ", this library needs " + MAJOR);
    }
  }

  private int get(String name) {
    return (int) instance.export(name).apply()[0];
  }

  /** Returns the result for an address, a JSON object. */
  byte[] check(byte[] address, int flags) {
    instance.memory().write(input, address);
    return output("addrspec_check", (int) check.apply(address.length, flags)[0]);
  }

  /** Returns the results for as many of the records as fit, at least one, each after its length. */
  byte[] checkMany(byte[] records, int length, int flags) {
    instance.memory().write(input, records, 0, length);
    return output("addrspec_check_many", (int) checkMany.apply(length, flags)[0]);
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

  /** Replaces the lists, or keeps them if the module refuses the blob. */
  void setLists(byte[] blob) {
    ExportFunction lists = instance.export("addrspec_lists");
    pass(blob, length -> lists.apply(length));
  }

  /** Passes bytes in pieces of the input's capacity, and then an empty one, which ends them. */
  private void pass(byte[] bytes, IntFunction<long[]> take) {
    for (int at = 0; at < bytes.length; at += capacity) {
      byte[] piece = Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + capacity));
      instance.memory().write(input, piece);
      requireTaken((int) take.apply(piece.length)[0]);
    }
    requireTaken((int) take.apply(0)[0]);
  }

  private void requireTaken(int result) {
    switch (result) {
      case 0:
        return;
      case REFUSED:
        throw new ListsRefusedException(sentence());
      case TOO_LARGE:
        throw new ListsRefusedException(ListsRefusedException.TOO_LARGE);
      case NO_POLICY:
        int offset = instance.memory().readInt(get("addrspec_report_ptr") + OFFSET);
        throw new PolicyRefusedException(sentence(), offset);
      default:
        throw new ModuleException("addrspec_lists or addrspec_policy returned " + result);
    }
  }

  /** Returns the verdict of a policy on an address, a JSON object. */
  byte[] verdict(String policy, byte[] address, Found found) {
    int slot = slot(policy);
    check(address, 0);
    byte[] subject = subject(found);
    instance.memory().write(input, subject);
    ExportFunction decide = instance.export("addrspec_verdict");
    byte[] verdict = output("addrspec_verdict", (int) decide.apply(slot, subject.length)[0]);
    return Arrays.copyOfRange(verdict, Math.min(4, verdict.length), verdict.length); // after its length
  }

  /** Returns what a policy needs of the last check. */
  private byte[] subject(Found found) {
    Memory memory = instance.memory();
    int report = get("addrspec_report_ptr");
    byte[] host = memory.readBytes(output + memory.readInt(report + HOST), memory.readInt(report + HOST + 4));
    return ByteBuffer.allocate(16 + host.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(memory.readInt(report) | (found.disposable ? DISPOSABLE : 0))
        .putInt(memory.readInt(report + 4))
        .putInt(found.word)
        .putInt(host.length)
        .put(host)
        .array();
  }

  /** Returns the slot of a policy, and loads it if the instance does not have it. */
  private int slot(String policy) {
    Loaded loaded = policies.get(policy);
    if (loaded == null) {
      loaded = load(policy);
      policies.put(policy, loaded);
      while (policyBytes() > POLICY_BYTES) {
        drop();
      }
    }
    return loaded.slot;
  }

  private Loaded load(String policy) {
    if (policies.size() == SLOTS) {
      drop();
    }
    int slot = 0;
    for (Set<Integer> taken = slots(); taken.contains(slot); ) {
      slot++;
    }
    return new Loaded(slot, fill(slot, policy));
  }

  private Set<Integer> slots() {
    return policies.values().stream().map(loaded -> loaded.slot).collect(Collectors.toSet());
  }

  int policyBytes() {
    return policies.values().stream().mapToInt(loaded -> loaded.bytes).sum();
  }

  /** Frees the slot and the memory of the policy that was used least recently. */
  private void drop() {
    fill(policies.remove(policies.keySet().iterator().next()).slot, "{}");
  }

  /** Makes a document the policy of a slot, and returns its size. */
  private int fill(int slot, String policy) {
    byte[] document = policy.getBytes(StandardCharsets.UTF_8);
    ExportFunction install = instance.export("addrspec_policy");
    pass(document, length -> install.apply(slot, length));
    return document.length;
  }

  private String sentence() {
    int report = get("addrspec_report_ptr") + SENTENCE;
    int at = output + instance.memory().readInt(report);
    byte[] text = instance.memory().readBytes(at, instance.memory().readInt(report + 4));
    return new String(text, StandardCharsets.UTF_8);
  }
}
