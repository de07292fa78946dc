package io.github.addrspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class JsonTest {
  private static Json read(String json) {
    return new Json(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void readsEachType() {
    Json m = read("{\"s\":\"a\",\"t\":true,\"f\":false,\"n\":null,\"i\":12,\"d\":0.97,\"l\":[\"x\",\"y\"],\"e\":[],\"o\":{\"a\":1},\"p\":[{\"a\":2}],\"z\":null}");
    assertEquals("a", m.string("s"));
    assertEquals(Optional.of(true), m.optionalBool("t"));
    assertFalse(m.bool("f"));
    assertEquals(Optional.empty(), m.optional("n"));
    assertEquals(12, m.integer("i"));
    assertEquals(List.of("x", "y"), m.strings("l"));
    assertEquals(List.of(), m.strings("e"));
    assertEquals(Optional.of(1), m.object("o", o -> o.integer("a")));
    assertEquals(List.of(2), m.objects("p", o -> o.integer("a")));
    assertEquals(Optional.empty(), m.object("z", o -> o.integer("a")));
  }

  /** A text that looks like a member is none, and members that are not asked for do not count. */
  @Test
  void findsNoMemberInAText() {
    Json m = read("{\"a\":\"{\\\"b\\\":1,\\\\\",\"c\":[{\"d\":\"b\"}],\"b\":2}");
    assertEquals(2, m.integer("b"));
  }

  @Test
  void readsEachEscape() {
    assertEquals("a\"\\/\b\f\n\r\tb\u0000\u00e9\ud83d\ude00", read("{\"s\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\tb\\u0000\\u00E9\\ud83d\\ude00\"}").string("s"));
  }

  /** Any text comes back, however its characters are written. */
  @Test
  void readsWhatAWriterWrote() {
    Random random = random();
    for (int n = 0; n < 5000; n++) {
      String text = text(random);
      assertEquals(text, read("{\"s\":\"" + escape(text, random) + "\"}").string("s"));
    }
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int n = random.nextInt(20); n > 0; n--) {
      int c = random.nextInt(1 << (1 + random.nextInt(20)));
      text.appendCodePoint(c >= 0xD800 && c < 0xE000 ? '"' : c);
    }
    return text.toString();
  }

  private static String escape(String text, Random random) {
    StringBuilder json = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (c < ' ' || c == '"' || c == '\\' || random.nextInt(4) == 0) {
                for (char unit : Character.toChars(c)) {
                  json.append(String.format("\\u%04x", (int) unit));
                }
              } else {
                json.appendCodePoint(c);
              }
            });
    return json.toString();
  }

  @Test
  void refusesWhatIsDamaged() {
    for (String json : new String[] {"", "{", "{\"a\"}", "{\"a\":", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\\u12\"}",
      "{\"a\":\"\\u12", "{\"a\":\"\\", "{\"a\":\"", "{\"a\":-1}", "{\"a\":tru}", "{\"a\":[1}", "{\"a\":[\"x}"}) {
      List<Consumer<Json>> getters = List.of(m -> m.string("a"), m -> m.bool("a"), m -> m.integer("a"), m -> m.strings("a"),
          m -> m.optional("a"), m -> m.optionalBool("a"), m -> m.objects("a", o -> o.string("a")));
      for (Consumer<Json> get : getters) {
        assertThrows(ModuleException.class, () -> get.accept(read(json)), json);
      }
    }
  }

  private static Facts facts(String json, boolean withDetails) {
    return new Facts(json.getBytes(StandardCharsets.UTF_8), ByteBuffer.allocate(4 * 24), withDetails);
  }

  @Test
  void refusesAResultThatLacksAText() {
    try (Addrspec addrspec = new Addrspec()) {
      String json = addrspec.check("jane@gmial.com").json();
      for (String name : List.of("email", "normalized", "local_part", "role", "domain", "typo_suggestion")) {
        String less = json.replaceFirst("\"" + name + "\":[^,}]*,?", "");
        ModuleException e = assertThrows(ModuleException.class, () -> facts(less, false));
        assertEquals("the module's JSON lacks " + name, e.getMessage());
      }
    }
  }

  @Test
  void ignoresAMemberOfALaterVersion() {
    try (Addrspec addrspec = new Addrspec()) {
      String json = addrspec.explain("info@gmial.com").json();
      String more = "{\"later\":[{\"a\":[null,true,1.5,\"x\"]}]," + json.substring(1);
      assertTrue(facts(more, true).details().isPresent());
    }
  }

  /** A damaged result is read or refused: nothing else is thrown, and nothing hangs. */
  @Test
  void survivesDamage() {
    Random random = random();
    try (Addrspec addrspec = new Addrspec()) {
      byte[] json = addrspec.explain("support-uk+a\u0001@gmial.com").jsonBytes();
      byte[] valid = addrspec.explain("support-uk@gmial.com").jsonBytes();
      for (int n = Integer.getInteger("rounds", 50_000); n > 0; n--) {
        byte[] damaged = (n % 2 == 0 ? json : valid).clone();
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
          damage(damaged, random);
        }
        survive(damaged);
      }
    }
  }

  private static void damage(byte[] json, Random random) {
    String signs = "{}[]\",:\\u0123.tfn";
    int at = random.nextInt(json.length);
    json[at] = (byte) (random.nextBoolean() ? random.nextInt(256) : signs.charAt(random.nextInt(signs.length())));
  }

  private static void survive(byte[] json) {
    try {
      new Facts(json, ByteBuffer.allocate(4 * 24), true).toString();
    } catch (ModuleException expected) {
      assertTrue(expected.getMessage().startsWith("the module's JSON"));
    }
  }

  private static Random random() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    return new Random(seed);
  }
}
