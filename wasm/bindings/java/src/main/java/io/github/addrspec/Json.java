package io.github.addrspec;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reads what the report lacks, texts and details: members of the module's JSON in the order in which
 * the module writes them (wasm/ABI.md). It ignores what is between them. The JSON is UTF-8 without
 * white space. Errors contain offsets and names of members, never the text.
 */
final class Json {
  private static final String ESCAPES = "\"\\/bfnrt";
  private static final String ESCAPED = "\"\\/\b\f\n\r\t";

  private final String json;
  private int at;

  Json(byte[] json) {
    this.json = new String(json, StandardCharsets.UTF_8);
  }

  String string(String name) {
    find(name);
    return string();
  }

  Optional<String> optional(String name) {
    return unlessNull(name, this::string);
  }

  boolean bool(String name) {
    find(name);
    return bool();
  }

  Optional<Boolean> optionalBool(String name) {
    return unlessNull(name, this::bool);
  }

  int integer(String name) {
    find(name);
    int start = at;
    int value = 0;
    while (at < json.length() && Character.isDigit(json.charAt(at))) {
      value = 10 * value + json.charAt(at++) - '0';
    }
    if (at == start) {
      throw error("a number");
    }
    return value;
  }

  <T> Optional<T> object(String name, Function<Json, T> type) {
    return unlessNull(name, () -> type.apply(this));
  }

  List<String> strings(String name) {
    return list(name, this::string);
  }

  <T> List<T> objects(String name, Function<Json, T> type) {
    return list(
        name,
        () -> {
          T value = type.apply(this);
          require("}");
          return value;
        });
  }

  /** Reads a list, of which each element is read to its end. */
  private <T> List<T> list(String name, Supplier<T> element) {
    find(name);
    require("[");
    List<T> list = new ArrayList<>();
    while (!accept("]")) {
      list.add(element.get());
      accept(",");
    }
    return List.copyOf(list);
  }

  private <T> Optional<T> unlessNull(String name, Supplier<T> value) {
    find(name);
    return accept("null") ? Optional.empty() : Optional.of(value.get());
  }

  /** Moves behind the next member name. Quotes in texts are escaped, so that no text is taken for it. */
  private void find(String name) {
    String quoted = '"' + name + "\":";
    int found = json.indexOf(quoted, at);
    if (found < 0) {
      throw new ModuleException("the module's JSON lacks " + name);
    }
    at = found + quoted.length();
  }

  private boolean bool() {
    boolean value = accept("true");
    if (!value) {
      require("false");
    }
    return value;
  }

  private String string() {
    require("\"");
    int end = json.indexOf('"', at);
    int escape = json.indexOf('\\', at);
    if (end >= 0 && (escape < 0 || escape > end)) { // as usual
      String plain = json.substring(at, end);
      at = end + 1;
      return plain;
    }
    StringBuilder text = new StringBuilder();
    for (char c = next(); c != '"'; c = next()) {
      text.append(c == '\\' ? escaped(next()) : c);
    }
    return text.toString();
  }

  /** Returns the character of an escape that begins with a letter. */
  private char escaped(char letter) {
    int simple = ESCAPES.indexOf(letter);
    if (simple >= 0) {
      return ESCAPED.charAt(simple);
    }
    int value = letter == 'u' ? 0 : -1;
    for (int n = 0; n < 4 && value >= 0; n++) {
      int digit = Character.digit(next(), 16);
      value = digit < 0 ? -1 : value << 4 | digit;
    }
    if (value < 0) {
      throw error("an escape");
    }
    return (char) value;
  }

  private char next() {
    if (at >= json.length()) {
      throw error("more");
    }
    return json.charAt(at++);
  }

  private boolean accept(String text) {
    boolean found = json.startsWith(text, at);
    if (found) {
      at += text.length();
    }
    return found;
  }

  private void require(String text) {
    if (!accept(text)) {
      throw error(text);
    }
  }

  private ModuleException error(String wanted) {
    return new ModuleException("the module's JSON is wrong at character " + at + ": it lacks " + wanted);
  }
}
