package io.github.addrspec;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the module's JSON (RFC 8259), which is UTF-8 without white space. It is our own because the
 * module writes only a part of JSON, and a library would be larger than the rest of this one. Errors
 * contain offsets, never the text.
 */
final class Json {
  /** Far above the depth of a result, which is 5. */
  private static final int MAX_DEPTH = 16;

  private static final String ESCAPES = "\"\\/bfnrt";
  private static final String ESCAPED = "\"\\/\b\f\n\r\t";

  private final byte[] json;
  private int at;
  private int depth;

  private Json(byte[] json) {
    this.json = json;
  }

  /** Returns the members of the only object in a text. */
  static Members read(byte[] text) {
    Json json = new Json(text);
    Members members = json.object();
    if (json.at != text.length) {
      throw json.error("the end");
    }
    return members;
  }

  /** Reads a value: Members, a List, a String, a Boolean, a Double or null. */
  private Object value() {
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return string();
      case 't':
        return word("true", Boolean.TRUE);
      case 'f':
        return word("false", Boolean.FALSE);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Members object() {
    open('{');
    Map<String, Object> members = new HashMap<>(32);
    if (!accept('}')) {
      do {
        String name = string();
        require(':');
        members.put(name, value());
      } while (accept(','));
      require('}');
    }
    depth--;
    return new Members(members);
  }

  private List<Object> array() {
    open('[');
    List<Object> list = new ArrayList<>();
    if (!accept(']')) {
      do {
        list.add(value());
      } while (accept(','));
      require(']');
    }
    depth--;
    return list;
  }

  private void open(char bracket) {
    if (++depth > MAX_DEPTH) {
      throw error("less depth");
    }
    require(bracket);
  }

  private Object word(String word, Object value) {
    for (int n = 0; n < word.length(); n++) {
      require(word.charAt(n));
    }
    return value;
  }

  /** Reads a number as the module writes it: digits and possibly a fraction. */
  private Double number() {
    int start = at;
    digits();
    if (accept('.')) {
      digits();
    }
    return Double.valueOf(text(start));
  }

  private void digits() {
    int start = at;
    while (at < json.length && json[at] >= '0' && json[at] <= '9') {
      at++;
    }
    if (at == start) {
      throw error("a digit");
    }
  }

  private String string() {
    require('"');
    String plain = plain();
    return accept('"') ? plain : plain + escaped();
  }

  /** Reads text up to a quote or an escape. */
  private String plain() {
    int start = at;
    while (peek() != '"' && peek() != '\\') {
      at++;
    }
    return text(start);
  }

  /** Reads the rest of a string from its first escape. */
  private String escaped() {
    StringBuilder text = new StringBuilder();
    while (!accept('"')) {
      require('\\');
      text.append(escape()).append(plain());
    }
    return text.toString();
  }

  private char escape() {
    char c = (char) peek();
    at++;
    int simple = ESCAPES.indexOf(c);
    if (simple >= 0) {
      return ESCAPED.charAt(simple);
    }
    if (c != 'u') {
      throw error("an escape");
    }
    return hexadecimal();
  }

  private char hexadecimal() {
    int value = 0;
    for (int n = 0; n < 4; n++) {
      int digit = Character.digit(peek(), 16);
      if (digit < 0) {
        throw error("a hexadecimal digit");
      }
      value = value << 4 | digit;
      at++;
    }
    return (char) value;
  }

  private int peek() {
    if (at >= json.length) {
      throw error("more");
    }
    return json[at];
  }

  private boolean accept(char c) {
    boolean found = at < json.length && json[at] == c;
    if (found) {
      at++;
    }
    return found;
  }

  private void require(char c) {
    if (!accept(c)) {
      throw error("'" + c + "'");
    }
  }

  private String text(int from) {
    return new String(json, from, at - from, StandardCharsets.UTF_8);
  }

  private ModuleException error(String wanted) {
    return new ModuleException("the module's JSON is wrong at byte " + at + ": it lacks " + wanted);
  }
}
