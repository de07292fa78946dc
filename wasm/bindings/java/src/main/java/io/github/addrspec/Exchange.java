package io.github.addrspec;

import java.util.Optional;

/** The host that takes the mail of a domain, in results of a program that asks DNS. */
public final class Exchange {
  private final String exchangeClass;
  private final Optional<String> provider;
  private final Optional<String> entry;
  private final Optional<String> host;
  private final Optional<Boolean> addressRecord;

  /** Reads the JSON object. */
  Exchange(Json members) {
    exchangeClass = members.string("class");
    provider = members.optional("provider");
    entry = members.optional("entry");
    host = members.optional("host");
    addressRecord = members.optionalBool("address_record");
  }

  /**
   * Returns what the host belongs to, such as {@code suite} or {@code temporary}.
   *
   * @return the class
   */
  public String exchangeClass() {
    return exchangeClass;
  }

  /**
   * Returns who runs it, such as {@code Google Workspace}.
   *
   * @return the provider; empty if it is not known
   */
  public Optional<String> provider() {
    return provider;
  }

  /**
   * Returns the row of the table, or the name in the lists, that covers the host.
   *
   * @return the entry; empty if there is none
   */
  public Optional<String> entry() {
    return entry;
  }

  /**
   * Returns the host: the first exchange of the domain.
   *
   * @return the host; empty if the domain has no MX record
   */
  public Optional<String> host() {
    return host;
  }

  /**
   * Reports whether the domain, which has no MX record, has an address record, to which mail goes.
   *
   * @return whether it has; empty if it has an MX record, or if that lookup failed
   */
  public Optional<Boolean> addressRecord() {
    return addressRecord;
  }
}
