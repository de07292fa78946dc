package io.github.addrspec;

import java.util.Optional;

/** Why an address is not valid. */
public final class Refusal {
  private final String codeName;
  private final int offset;
  private final String section;
  private final String sentence;
  private final Optional<String> suggestion;

  /** Reads the JSON object. */
  Refusal(Json members) {
    codeName = members.string("code");
    offset = members.integer("offset");
    section = members.string("section");
    sentence = members.string("sentence");
    suggestion = members.optional("suggestion");
  }

  /**
   * Returns the reason.
   *
   * @return the code, which is {@link RefusalCode#OTHER} if this version of the library does not know
   *     it
   */
  public RefusalCode code() {
    return RefusalCode.of(codeName);
  }

  /**
   * Returns the stable name of the reason in the JSON, such as {@code local_part_too_long}.
   *
   * @return the name of the code
   */
  public String codeName() {
    return codeName;
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

  /**
   * Returns the address that is meant, such as {@code jane@example.org} for {@code <jane@example.org>},
   * if exactly one certain correction makes it valid.
   *
   * @return the corrected address; empty if there is none
   */
  public Optional<String> suggestion() {
    return suggestion;
  }

  /** Returns the code and the offset, which say nothing about the person. */
  @Override
  public String toString() {
    return "Refusal[code=" + codeName + ", offset=" + offset + "]";
  }
}
