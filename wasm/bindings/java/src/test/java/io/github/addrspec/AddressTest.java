package io.github.addrspec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AddressTest {
  /** Each character is encoded as Java does it, wherever it is. */
  @Test
  void encodesAsUtf8() {
    for (int c = 0; c <= Character.MAX_CODE_POINT; c += c < 0x11000 ? 1 : 97) {
      if (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE) {
        String text = "a" + Character.toString(c) + "?\u00e9" + Character.toString(c);
        assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), Address.encode(text, "text"));
      }
    }
  }

  /** A lone surrogate is a byte that UTF-8 never has, and what is around it does not change. */
  @Test
  void encodesALoneSurrogate() {
    assertEncoded("\ud800", 0xFF);
    assertEncoded("?\ud800\u00e9?", '?', 0xFF, 0xC3, 0xA9, '?');
    assertEncoded("\udc00\ud800a", 0xFF, 0xFF, 'a');
    assertEncoded("\ud83d\ude00\ude00", 0xF0, 0x9F, 0x98, 0x80, 0xFF);
  }

  private static void assertEncoded(String text, int... want) {
    byte[] bytes = new byte[want.length];
    for (int n = 0; n < want.length; n++) {
      bytes[n] = (byte) want[n];
    }
    assertArrayEquals(bytes, Address.encode(text, "text"));
  }
}
