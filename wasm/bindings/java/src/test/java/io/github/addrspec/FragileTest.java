package io.github.addrspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.InterpreterMachine;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * An instance that failed is discarded, and the next one has the same lists. The property fragile
 * names a module that traps for an address that begins with !, returns -3 for ?, and a length beyond
 * its output for #; the property older, a module of interface 1.2; the property lists, lists in which
 * swapped.example is public.
 */
@EnabledIfSystemProperty(named = "fragile", matches = ".+")
class FragileTest {
  private static WasmModule module;
  private static Function<Instance, Machine> code;

  private final AtomicInteger started = new AtomicInteger();

  @BeforeAll
  static void compile() {
    module = Parser.parse(Path.of(System.getProperty("fragile")));
    code = MachineFactoryCompiler.compile(module);
  }

  /** Returns a checker with one instance of the fragile module. */
  private Addrspec fragile() {
    return new Addrspec(
        Addrspec.builder().instances(1),
        () -> {
          started.incrementAndGet();
          return new Guest(module, code);
        });
  }

  @Test
  void discardsAnInstanceThatFailed() throws Exception {
    try (Addrspec addrspec = fragile()) {
      addrspec.setLists(Files.readAllBytes(Path.of(System.getProperty("lists"))));
      int instances = started.get();
      for (String bad : new String[] {"!secret@example.org", "?secret@example.org", "#secret@example.org"}) {
        assertNoAddress(assertThrows(ModuleException.class, () -> addrspec.check(bad)));
        assertTrue(addrspec.check("jane@swapped.example").publicProvider());
        assertEquals(++instances, started.get());
      }
    }
  }

  @Test
  void refusesAModuleOfAnotherVersion() {
    WasmModule older = Parser.parse(Path.of(System.getProperty("older")));
    Exception e = assertThrows(ModuleException.class, () -> new Guest(older, InterpreterMachine::new));
    assertEquals("the module has interface version 1.2, this library needs 2", e.getMessage());
  }

  /** A length beyond the output is found before memory for it is allocated. */
  @Test
  void refusesALengthBeyondTheOutput() {
    try (Addrspec addrspec = fragile()) {
      Exception e = assertThrows(ModuleException.class, () -> addrspec.check("#"));
      assertEquals("addrspec_check returned 1073741824", e.getMessage());
    }
  }

  /** The message, the causes and the stack trace must not contain the address. */
  private static void assertNoAddress(Exception e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    assertFalse(text.toString().contains("secret"), text.toString());
  }

  @Test
  void keepsTheInstanceThatRefusedLists() throws Exception {
    try (Addrspec addrspec = fragile()) {
      addrspec.setLists(Files.readAllBytes(Path.of(System.getProperty("lists"))));
      assertThrows(ListsRefusedException.class, () -> addrspec.setLists(new byte[100]));
      assertTrue(addrspec.check("jane@swapped.example").publicProvider());
      assertEquals(1, started.get());
    }
  }
}
