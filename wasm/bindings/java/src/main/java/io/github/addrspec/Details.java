package io.github.addrspec;

import java.util.List;
import java.util.Optional;

/** Why the facts are so. */
public final class Details {
  private final Optional<Refusal> refusal;
  private final Optional<String> canonical;
  private final Optional<String> canonicalRule;
  private final Optional<RoleEvidence> roleEvidence;
  private final Optional<ProviderEvidence> providerEvidence;
  private final Optional<TypoEvidence> typoEvidence;
  private final Versions versions;
  private final List<String> form;
  private final Optional<Exchange> exchange;

  /** Reads the JSON object. */
  Details(Json members) {
    refusal = members.object("refusal", Refusal::new);
    canonical = members.optional("canonical");
    canonicalRule = members.optional("canonical_rule");
    roleEvidence = members.object("role_evidence", RoleEvidence::new);
    providerEvidence = members.object("provider_evidence", ProviderEvidence::new);
    typoEvidence = members.object("typo_evidence", TypoEvidence::new);
    versions = new Versions(members);
    form = members.strings("form");
    exchange = members.object("exchange", Exchange::new);
  }

  /**
   * Returns why the address is not valid.
   *
   * @return the refusal; empty if the address is valid
   */
  public Optional<Refusal> refusal() {
    return refusal;
  }

  /**
   * Returns the identity of the mailbox: two addresses with the same one are the same mailbox.
   *
   * @return the address that identifies the mailbox; empty if the address is not valid
   */
  public Optional<String> canonical() {
    return canonical;
  }

  /**
   * Returns the provider's rule behind the identity, such as {@code gmail}.
   *
   * @return the name of the rule; empty if none is known
   */
  public Optional<String> canonicalRule() {
    return canonicalRule;
  }

  /**
   * Returns what gave the role.
   *
   * @return the evidence; empty without a role
   */
  public Optional<RoleEvidence> roleEvidence() {
    return roleEvidence;
  }

  /**
   * Returns the entry of the lists for the domain.
   *
   * @return the evidence; empty if the lists do not have the domain
   */
  public Optional<ProviderEvidence> providerEvidence() {
    return providerEvidence;
  }

  /**
   * Returns why the domain is a misspelled one.
   *
   * @return the evidence; empty if it is not
   */
  public Optional<TypoEvidence> typoEvidence() {
    return typoEvidence;
  }

  /**
   * Returns the versions that determine the result.
   *
   * @return the versions
   */
  public Versions versions() {
    return versions;
  }

  /**
   * Returns what is unusual about the form of a valid address: {@code quoted}, {@code comment}, {@code
   * literal}, {@code single_label}, {@code unknown_tld}, {@code special_use}, {@code generated}, {@code
   * odd_character}, {@code looks_disposable} and {@code mailbox_form}.
   *
   * @return the names, in this order; empty for most addresses
   */
  public List<String> form() {
    return form;
  }

  /**
   * Returns the host that takes the mail of the domain.
   *
   * @return empty, for nothing here asks DNS
   */
  public Optional<Exchange> exchange() {
    return exchange;
  }
}
