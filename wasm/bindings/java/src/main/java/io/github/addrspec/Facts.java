package io.github.addrspec;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** What is known about one address without DNS. It is immutable. */
public final class Facts {
  /** The bits of word 0 of the report that are valid and disposable. */
  static final int VALID = 1;

  static final int DISPOSABLE = 1 << 5;

  /** Where the report has the length of the host text. */
  private static final int HOST_LENGTH = 4 * 10;

  private final byte[] json;
  private final int facts;
  private final int more;
  private final boolean hasHost;
  private final String email;
  private final Optional<String> normalized;
  private final Optional<String> localPart;
  private final Optional<String> roleName;
  private final Optional<String> domain;
  private final Optional<String> typoSuggestion;
  private final Optional<Details> details;

  /** Reads the facts in the report, and the texts and the details in the JSON. */
  Facts(byte[] json, ByteBuffer report, boolean withDetails) {
    this.json = json;
    facts = report.getInt(0);
    more = report.getInt(4);
    hasHost = report.getInt(HOST_LENGTH) > 0;
    Json members = new Json(json);
    email = members.string("email");
    normalized = members.optional("normalized");
    localPart = members.optional("local_part");
    roleName = members.optional("role");
    domain = members.optional("domain");
    typoSuggestion = members.optional("typo_suggestion");
    details = withDetails ? members.object("details", Details::new) : Optional.empty();
  }

  /** Reports whether a bit of word 0 of the report is set. */
  private boolean has(int bit) {
    return (facts & bit) != 0;
  }

  /**
   * Returns the address as it was passed. Bytes that are not UTF-8 are U+FFFD.
   *
   * @return the address
   */
  public String email() {
    return email;
  }

  /**
   * Reports whether the address is an addr-spec (RFC 5322 section 3.4.1, RFC 6531) that mail can carry
   * (RFC 5321 section 4.5.3.1).
   *
   * @return whether the address is valid
   */
  public boolean valid() {
    return has(VALID);
  }

  /**
   * Returns the address in lower case and Unicode NFC, without comments and needless quotes.
   *
   * @return the normalized address; empty if the address is not valid
   */
  public Optional<String> normalized() {
    return normalized;
  }

  /**
   * Returns the part before the @ as written, without comments and surrounding white space.
   *
   * @return the local part; empty if the address is not valid
   */
  public Optional<String> localPart() {
    return localPart;
  }

  /**
   * Reports whether the local part has a tag, as in {@code jane+news}.
   *
   * @return whether it has one
   */
  public boolean alias() {
    return has(1 << 1);
  }

  /**
   * Reports whether every byte is ASCII.
   *
   * @return whether it does
   */
  public boolean ascii() {
    return has(1 << 2);
  }

  /**
   * Returns the role, if the mailbox belongs to a function, not to a person.
   *
   * @return the role, which is {@link Role#OTHER} if this version of the library does not know it
   */
  public Optional<Role> role() {
    return roleName.map(Role::of);
  }

  /**
   * Returns the name of the role in the JSON, such as {@code NoReply}.
   *
   * @return the name of the role
   */
  public Optional<String> roleName() {
    return roleName;
  }

  /**
   * Reports whether the local part looks like random characters.
   *
   * @return whether the score is 0.5 or more
   */
  public boolean gibberish() {
    return has(1 << 4);
  }

  /**
   * Returns the probability that the local part is random characters, calibrated to a form where 5 %
   * are.
   *
   * @return 0 to 1, in steps of 0.01
   */
  public double gibberishScore() {
    return (more & 127) / 100.0;
  }

  /**
   * Returns the part after the @, mapped by UTS #46, in U-labels or A-labels as written; or the address
   * literal.
   *
   * @return the domain; empty if the address is not valid
   */
  public Optional<String> domain() {
    return domain;
  }

  /**
   * Returns whether the domain has MX records. This library makes no DNS queries, so it is empty,
   * or false if there is no domain to look up: for an address that is not valid and for an address
   * literal.
   *
   * @return empty or false
   */
  public Optional<Boolean> mx() {
    return hasHost ? Optional.empty() : Optional.of(false);
  }

  /**
   * Reports whether the domain belongs to a provider of throw-away mailboxes.
   *
   * @return whether the provider is disposable
   */
  public boolean disposable() {
    return has(DISPOSABLE);
  }

  /**
   * Reports whether anybody can open a mailbox at the domain, as at gmail.com. It is the member
   * {@code public} of the JSON, a word that Java reserves.
   *
   * @return whether the provider is public
   */
  public boolean publicProvider() {
    return has(1 << 6);
  }

  /**
   * Reports whether the domain belongs to a forwarding service.
   *
   * @return whether the provider is a relay
   */
  public boolean relay() {
    return has(1 << 7);
  }

  /**
   * Reports whether the domain looks like a misspelled provider.
   *
   * @return whether there is a suggestion
   */
  public boolean typo() {
    return has(1 << 8);
  }

  /**
   * Returns the domain that was probably meant; with {@link Addrspec.Builder#fullSuggestion} the whole
   * corrected address.
   *
   * @return the suggestion
   */
  public Optional<String> typoSuggestion() {
    return typoSuggestion;
  }

  /**
   * Returns why the facts are so.
   *
   * @return the details; empty unless they come from {@link Addrspec#explain(String)}
   */
  public Optional<Details> details() {
    return details;
  }

  /**
   * Returns the result as the module wrote it, a JSON object on one line, the same in every language.
   *
   * @return the JSON
   */
  public String json() {
    return new String(json, StandardCharsets.UTF_8);
  }

  /**
   * Returns {@link #json} in UTF-8.
   *
   * @return a copy of the bytes
   */
  public byte[] jsonBytes() {
    return json.clone();
  }

  /** Reports whether the other object is facts with the same JSON. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Facts && Arrays.equals(json, ((Facts) other).json);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(json);
  }

  /** Returns the facts without the address and its parts, so that they may be logged. */
  @Override
  public String toString() {
    return String.format(
        "Facts[valid=%s, role=%s, gibberish=%s, disposable=%s, public=%s, relay=%s, typo=%s]",
        valid(), roleName.orElse(null), gibberish(), disposable(), publicProvider(), relay(), typo());
  }
}
