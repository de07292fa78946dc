package io.github.addrspec;

import java.util.List;

/** Why an address has its role. */
public final class RoleEvidence {
  private final String word;
  private final String match;
  private final List<String> qualifiers;

  /** Reads the JSON object. */
  RoleEvidence(Json members) {
    word = members.string("word");
    match = members.string("match");
    qualifiers = members.strings("qualifiers");
  }

  /**
   * Returns the word that gave the role, without separators; for a host that takes no mail, its name.
   *
   * @return the word
   */
  public String word() {
    return word;
  }

  /**
   * Returns how the word matched: {@code word}, {@code separated}, {@code glued}, {@code part} or {@code
   * host}.
   *
   * @return the kind of match
   */
  public String match() {
    return match;
  }

  /**
   * Returns the regions, numbers, teams and other words beside it.
   *
   * @return the qualifiers
   */
  public List<String> qualifiers() {
    return qualifiers;
  }
}
