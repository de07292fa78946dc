package io.github.addrspec;

/** One correction of a misspelled domain. */
public final class Edit {
  private final String kind;
  private final int at;
  private final String from;
  private final String to;

  /** Reads the JSON object. */
  Edit(Json members) {
    kind = members.string("kind");
    at = members.integer("at");
    from = members.string("from");
    to = members.string("to");
  }

  /**
   * Returns the kind: {@code substitution}, {@code insertion}, {@code deletion}, {@code transposition},
   * {@code lookalike}, {@code missing_dot}, {@code misplaced_dot} or {@code ending}.
   *
   * @return the kind
   */
  public String kind() {
    return kind;
  }

  /**
   * Returns the place: the number of characters of the domain before it, with U-labels (RFC 5890).
   *
   * @return the place
   */
  public int at() {
    return at;
  }

  /**
   * Returns the text that is replaced.
   *
   * @return the text, which may be empty
   */
  public String from() {
    return from;
  }

  /**
   * Returns the text that replaces it.
   *
   * @return the text, which may be empty
   */
  public String to() {
    return to;
  }
}
