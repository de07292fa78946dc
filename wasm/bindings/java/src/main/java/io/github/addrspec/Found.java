package io.github.addrspec;

/**
 * What a caller has looked up about an address, for {@link Addrspec#verdict(String, String, Found)}.
 * A reason that needs something else is skipped.
 *
 * <pre>{@code
 * Found found = Found.NOTHING.mx(false).addressRecord(true);
 * }</pre>
 */
public final class Found {
  /** Nothing was looked up. */
  public static final Found NOTHING = new Found(0, false);

  /** The word of the interface: a bit for what was looked up, and one for what is there. */
  final int word;

  final boolean disposable;

  private Found(int word, boolean disposable) {
    this.word = word;
    this.disposable = disposable;
  }

  /**
   * Adds whether the domain has MX records.
   *
   * @param has whether it has
   * @return what was found then
   */
  public Found mx(boolean has) {
    return new Found(word & ~3 | (has ? 3 : 1), disposable);
  }

  /**
   * Adds whether the domain has an address record, to which mail goes without MX records.
   *
   * @param has whether it has
   * @return what was found then
   */
  public Found addressRecord(boolean has) {
    return new Found(word & ~12 | (has ? 12 : 4), disposable);
  }

  /**
   * Adds that the exchanges of the domain are those of throw-away services.
   *
   * @return what was found then
   */
  public Found disposableExchanges() {
    return new Found(word, true);
  }
}
