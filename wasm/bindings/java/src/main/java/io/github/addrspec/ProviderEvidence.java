package io.github.addrspec;

import java.util.List;

/** The entry of the lists that covers the domain. */
public final class ProviderEvidence {
  private final String entry;
  private final String providerClass;
  private final boolean subdomains;
  private final List<String> sources;

  /** Reads the JSON object. */
  ProviderEvidence(Json members) {
    entry = members.string("entry");
    providerClass = members.string("class");
    subdomains = members.bool("subdomains");
    sources = members.strings("sources");
  }

  /**
   * Returns the domain in the lists.
   *
   * @return the entry
   */
  public String entry() {
    return entry;
  }

  /**
   * Returns its class: {@code disposable}, {@code public}, {@code relay}, {@code no_mail}, {@code known},
   * for a domain in use that has none of them, or {@code unproven}, which gives it none.
   *
   * @return the class
   */
  public String providerClass() {
    return providerClass;
  }

  /**
   * Reports whether the entry covers the subdomains too.
   *
   * @return whether it does
   */
  public boolean subdomains() {
    return subdomains;
  }

  /**
   * Returns the published lists and the tables of this project that have the entry.
   *
   * @return the sources
   */
  public List<String> sources() {
    return sources;
  }
}
