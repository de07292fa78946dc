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

  /** The size of the largest blob of lists: 4 MiB. */
  static final int MAX_LISTS = 4 << 20;

  private static final int MAJOR = 2;
  private static final int REFUSED = -4;
  private static final int TOO_LARGE = -5;
  private static final int NO_POLICY = -7;

  /** How many policies an instance has. */
  private static final int SLOTS = 16;

  /** The bit of word 0 of the report that is disposable. */
  private static final int DISPOSABLE = 1 << 5;

  /** Where the report has the offset and the length of the host text, words 9 and 10. */
  private static final int HOST = 4 * 9;

  /** Where the report has the offset and the length of its sentence, words 17 and 18. */
  private static final int SENTENCE = 4 * 17;

  private final Instance instance;
  private final ExportFunction check;
  private final ExportFunction checkMany;
  private final int input;
  private final int capacity;
  private final int output;
  private final int outputCapacity;

  /** The slots of policies by their documents, the last used one last. */
  private final Map<String, Integer> policies = new LinkedHashMap<>(SLOTS, 0.75f, true);

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
    for (int at = 0; at < blob.length; at += capacity) {
      byte[] piece = Arrays.copyOfRange(blob, at, Math.min(blob.length, at + capacity));
      instance.memory().write(input, piece);
      passLists(piece.length);
    }
    passLists(0);
  }

  /** Passes a piece of lists from the input; 0 installs them. */
  private void passLists(int length) {
    int result = (int) instance.export("addrspec_lists").apply(length)[0];
    if (result == REFUSED) {
      throw new ListsRefusedException(sentence());
    }
    if (result == TOO_LARGE) {
      throw new ListsRefusedException(ListsRefusedException.TOO_LARGE);
    }
    if (result < 0) {
      throw new ModuleException("addrspec_lists returned " + result);
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

  /** Returns the slot of a policy, which replaces the one that was used least recently. */
  private int slot(String policy) {
    Integer known = policies.get(policy);
    if (known != null) {
      return known;
    }
    if (policies.size() == SLOTS) {
      policies.remove(policies.keySet().iterator().next());
    }
    int slot = 0;
    while (policies.containsValue(slot)) {
      slot++;
    }
    load(slot, policy.getBytes(StandardCharsets.UTF_8));
    policies.put(policy, slot);
    return slot;
  }

  private void load(int slot, byte[] document) {
    for (int at = 0; at < document.length; at += capacity) {
      byte[] piece = Arrays.copyOfRange(document, at, Math.min(document.length, at + capacity));
      instance.memory().write(input, piece);
      passPolicy(slot, piece.length);
    }
    passPolicy(slot, 0);
  }

  /** Passes a piece of a policy from the input; 0 ends it. */
  private void passPolicy(int slot, int length) {
    int result = (int) instance.export("addrspec_policy").apply(slot, length)[0];
    if (result == NO_POLICY) {
      throw new PolicyRefusedException(sentence());
    }
    if (result < 0) {
      throw new ModuleException("addrspec_policy returned " + result);
    }
  }

  private String sentence() {
    int report = get("addrspec_report_ptr") + SENTENCE;
    int at = output + instance.memory().readInt(report);
    byte[] text = instance.memory().readBytes(at, instance.memory().readInt(report + 4));
    return new String(text, StandardCharsets.UTF_8);
  }
}
