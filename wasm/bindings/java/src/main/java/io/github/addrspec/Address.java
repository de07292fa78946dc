package io.github.addrspec;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** Addresses on their way to the module: bytes, within the limit. Errors never contain them. */
final class Address {
  private Address() {}

  /** Returns the address in UTF-8. The name of the argument is for the error. */
  static byte[] encode(String address, String name) {
    Objects.requireNonNull(address, name);
    if (address.length() > Addrspec.MAX_ADDRESS) {
      throw tooLong(name, "at least " + address.length());
    }
    return requireSize(utf8(address), name);
  }

  static byte[] requireSize(byte[] address, String name) {
    Objects.requireNonNull(address, name);
    if (address.length > Addrspec.MAX_ADDRESS) {
      throw tooLong(name, Integer.toString(address.length));
    }
    return address;
  }

  static List<byte[]> encodeAll(Collection<String> addresses) {
    List<byte[]> all = new ArrayList<>(addresses.size());
    for (String address : addresses) {
      all.add(encode(address, "addresses[" + all.size() + "]"));
    }
    return all;
  }

  static List<byte[]> requireSizes(Collection<byte[]> addresses) {
    List<byte[]> all = new ArrayList<>(addresses.size());
    for (byte[] address : addresses) {
      all.add(requireSize(address, "addresses[" + all.size() + "]"));
    }
    return all;
  }

  /**
   * Returns text in UTF-8. A lone surrogate becomes a byte that UTF-8 does not have, so that the
   * module refuses the address; String.getBytes writes a question mark, which is valid in one.
   */
  private static byte[] utf8(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int at = 0, end = 0; at < text.length(); ) {
      int c = text.codePointAt(at);
      if (isSurrogate(c)) {
        bytes[end] = (byte) 0xFF;
      }
      at += Character.charCount(c);
      end += isSurrogate(c) ? 1 : length(c);
    }
    return bytes;
  }

  private static boolean isSurrogate(int c) {
    return c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
  }

  /** Returns the number of bytes of a character in UTF-8 (RFC 3629 section 3). */
  private static int length(int c) {
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  }

  private static IllegalArgumentException tooLong(String name, String size) {
    return new IllegalArgumentException(
        name + " has " + size + " bytes; at most " + Addrspec.MAX_ADDRESS + " can be checked");
  }
}
