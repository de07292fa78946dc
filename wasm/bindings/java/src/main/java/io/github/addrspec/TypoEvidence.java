package io.github.addrspec;

import java.util.List;

/** What makes a domain a misspelled one. */
public final class TypoEvidence {
  private final String target;
  private final List<Edit> edits;

  /** Reads the JSON object. */
  TypoEvidence(Json members) {
    target = members.string("target");
    edits = members.objects("edits", Edit::new);
  }

  /**
   * Returns the domain that is meant.
   *
   * @return the domain
   */
  public String target() {
    return target;
  }

  /**
   * Returns the corrections that lead there, in the order of the domain.
   *
   * @return the edits
   */
  public List<Edit> edits() {
    return edits;
  }
}
