package io.github.addrspec;

/**
 * A document is no policy. The message is the place in it, a colon and a space, what is wrong there
 * and how to fix it.
 */
public final class PolicyRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Of the place, in bytes. */
  private final int offset;

  PolicyRefusedException(String why, int offset) {
    super(why);
    this.offset = offset;
  }

  /**
   * Returns the place in the document.
   *
   * @return such as {@code block.reasons[2]}, or {@code line 3, column 7} if it is no JSON
   */
  public String place() {
    return getMessage().split(": ", 2)[0];
  }

  /**
   * Returns the offset of the place in the document.
   *
   * @return the offset, in bytes of UTF-8
   */
  public int offset() {
    return offset;
  }
}
