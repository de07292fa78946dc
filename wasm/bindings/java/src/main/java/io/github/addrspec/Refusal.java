package io.github.addrspec;

/** Why an address is not valid. */
public final class Refusal {
  private final String code;
  private final int offset;
  private final String section;
  private final String sentence;

  /** Reads the JSON object. */
  Refusal(Members members) {
    code = members.string("code");
    offset = members.integer("offset");
    section = members.string("section");
    sentence = members.string("sentence");
  }

  /**
   * Returns the stable name of the reason, such as {@code local_part_too_long}. Newer versions may have
   * others.
   *
   * @return the code
   */
  public String code() {
    return code;
  }

  /**
   * Returns where it is: the offset of the offending byte in the address as UTF-8.
   *
   * @return the offset
   */
  public int offset() {
    return offset;
  }

  /**
   * Returns the section of the standard, such as {@code RFC 5321 section 4.5.3.1.1}.
   *
   * @return the section
   */
  public String section() {
    return section;
  }

  /**
   * Returns a sentence for people: what is wrong and how to correct it, without a full stop. It may
   * contain a character of the address.
   *
   * @return the sentence
   */
  public String sentence() {
    return sentence;
  }

  /** Returns the code and the offset, which say nothing about the person. */
  @Override
  public String toString() {
    return "Refusal[code=" + code + ", offset=" + offset + "]";
  }
}
