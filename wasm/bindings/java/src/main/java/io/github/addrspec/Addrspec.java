package io.github.addrspec;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Checks email addresses. It makes no DNS queries and neither reads nor writes files.
 *
 * <pre>{@code
 * try (Addrspec addrspec = new Addrspec()) {
 *   Facts facts = addrspec.check("Jane.Doe+news@gmial.com");
 *   facts.valid();          // true
 *   facts.typoSuggestion(); // Optional[gmail.com]
 * }
 * }</pre>
 *
 * <p>Create one and use it everywhere: all threads may call it at the same time. It keeps a pool of
 * instances of the module, {@linkplain Builder#instances one per processor} at most, each started
 * when it is first needed. An address that is not valid is a result, not an exception; but an address
 * of more than {@value #MAX_ADDRESS} bytes is an {@link IllegalArgumentException}. All methods but close
 * throw an {@link IllegalStateException} if the checker is closed, and a {@link ModuleException} if the
 * module failed. An interrupt of the thread does not stop a check; it is kept.
 */
public final class Addrspec implements AutoCloseable {
  /** The size in bytes of the longest address that may be passed: 1 MiB. */
  public static final int MAX_ADDRESS = 1 << 20;

  private final Pool pool;
  private final int flags;

  /** Creates a checker with the default options. */
  public Addrspec() {
    this(new Builder());
  }

  private Addrspec(Builder builder) {
    this(builder, Guest::start);
  }

  /** For tests, which start a defective module. */
  Addrspec(Builder builder, Supplier<Guest> start) {
    pool = new Pool(builder.instances, start);
    flags = builder.fullSuggestion ? Guest.FULL_SUGGESTION : 0;
    if (builder.lists != null) {
      setLists(builder.lists);
    }
  }

  /**
   * Returns a builder, for other options than the default.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Checks an address.
   *
   * @param address the address; lone surrogates, which no encoding can represent, make it invalid
   * @return its facts
   */
  public Facts check(String address) {
    return check(Address.encode(address, "address"));
  }

  /**
   * Checks an address in UTF-8. Other bytes are allowed: the address is not valid then.
   *
   * @param address the address
   * @return its facts
   */
  public Facts check(byte[] address) {
    Address.requireSize(address, "address");
    return pool.use(guest -> guest.check(address, flags));
  }

  /**
   * Checks an address and says why: the facts have {@link Facts#details details}. This takes about
   * twice as long as {@link #check(String)}.
   *
   * @param address the address, as for {@link #check(String)}
   * @return its facts, with details
   */
  public Facts explain(String address) {
    return explain(Address.encode(address, "address"));
  }

  /**
   * Checks an address and says why, like {@link #explain(String)}.
   *
   * @param address the address, as for {@link #check(byte[])}
   * @return its facts, with details
   */
  public Facts explain(byte[] address) {
    Address.requireSize(address, "address");
    return pool.use(guest -> guest.check(address, flags | Guest.DETAILS));
  }

  /**
   * Checks addresses, one after the other with one instance. To use several processors, call it from
   * several threads.
   *
   * @param addresses the addresses
   * @return their facts, in the same order
   * @throws IllegalArgumentException if an address has more than {@value #MAX_ADDRESS} bytes; nothing
   *     was checked then
   */
  public List<Facts> checkMany(List<String> addresses) {
    Objects.requireNonNull(addresses, "addresses");
    return Bulk.check(pool, Address.encodeAll(addresses), flags);
  }

  /**
   * Checks addresses in UTF-8, like {@link #checkMany}.
   *
   * @param addresses the addresses, as for {@link #check(byte[])}; they must not change during the call
   * @return their facts, in the same order
   * @throws IllegalArgumentException if an address has more than {@value #MAX_ADDRESS} bytes; nothing
   *     was checked then
   */
  public List<Facts> checkManyBytes(List<byte[]> addresses) {
    Objects.requireNonNull(addresses, "addresses");
    return Bulk.check(pool, Address.requireSizes(addresses), flags);
  }

  /**
   * Checks addresses and says why: {@link #explain(String)} in bulk.
   *
   * @param addresses the addresses
   * @return their facts, with details, in the same order
   * @throws IllegalArgumentException if an address has more than {@value #MAX_ADDRESS} bytes; nothing
   *     was checked then
   */
  public List<Facts> explainMany(List<String> addresses) {
    Objects.requireNonNull(addresses, "addresses");
    return Bulk.check(pool, Address.encodeAll(addresses), flags | Guest.DETAILS);
  }

  /**
   * Checks addresses in UTF-8 and says why, like {@link #explainMany}.
   *
   * @param addresses the addresses, as for {@link #checkManyBytes}
   * @return their facts, with details, in the same order
   * @throws IllegalArgumentException if an address has more than {@value #MAX_ADDRESS} bytes; nothing
   *     was checked then
   */
  public List<Facts> explainManyBytes(List<byte[]> addresses) {
    Objects.requireNonNull(addresses, "addresses");
    return Bulk.check(pool, Address.requireSizes(addresses), flags | Guest.DETAILS);
  }

  /**
   * Returns the verdict of a policy on an address without lookups; see {@link #verdict(String,
   * String, Found)}.
   *
   * @param address the address, as for {@link #check(String)}
   * @param policy the JSON document
   * @return the verdict
   * @throws PolicyRefusedException if the document is no policy
   */
  public Verdict verdict(String address, String policy) {
    return verdict(address, policy, Found.NOTHING);
  }

  /**
   * Returns the verdict of a policy on an address. Each instance keeps the policies that were used
   * last, at most 16 with documents of 4 MiB together.
   *
   * @param address the address, as for {@link #check(String)}
   * @param policy the JSON document
   * @param found what you have looked up
   * @return the verdict
   * @throws PolicyRefusedException if the document is no policy; it has the place
   */
  public Verdict verdict(String address, String policy, Found found) {
    return verdict(Address.encode(address, "address"), policy, found);
  }

  /**
   * Returns the verdict of a policy on an address in UTF-8, like {@link #verdict(String, String,
   * Found)}.
   *
   * @param address the address, as for {@link #check(byte[])}
   * @param policy the JSON document
   * @param found what you have looked up
   * @return the verdict
   * @throws PolicyRefusedException if the document is no policy; it has the place
   */
  public Verdict verdict(byte[] address, String policy, Found found) {
    Address.requireSize(address, "address");
    Objects.requireNonNull(policy, "policy");
    Objects.requireNonNull(found, "found");
    return new Verdict(pool.use(guest -> guest.verdict(policy, address, found)));
  }

  /**
   * Replaces the lists of providers and words by newer ones, for all calls that begin afterwards. The
   * signature is not verified here.
   *
   * @param blob the content of a file {@code lists.blob}
   * @throws ListsRefusedException if the blob is damaged, too large or of another format; the lists do
   *     not change then
   */
  public void setLists(byte[] blob) {
    Objects.requireNonNull(blob, "blob");
    if (blob.length > Guest.MAX_LISTS) {
      throw new ListsRefusedException(ListsRefusedException.TOO_LARGE);
    }
    pool.setLists(blob.clone());
  }

  /**
   * Returns the versions that determine the results.
   *
   * @return the versions
   */
  public Versions versions() {
    return new Versions(new Json(pool.use(Guest::info)));
  }

  /** Releases the instances. Calls that run end as usual; later ones fail. */
  @Override
  public void close() {
    pool.close();
  }

  /** The options of a checker. It may be used by one thread at a time. */
  public static final class Builder {
    private static final int MAX_INSTANCES = 1024;

    private int instances = Math.min(MAX_INSTANCES, Runtime.getRuntime().availableProcessors());
    private boolean fullSuggestion;
    private byte[] lists;

    private Builder() {}

    /**
     * Sets the number of instances of the module, and so of checks at the same time; further threads
     * wait. The default is the number of processors. Each instance takes 12 MB of the heap.
     *
     * @param limit 1 to 1024
     * @return this builder
     * @throws IllegalArgumentException if the limit is not in that range
     */
    public Builder instances(int limit) {
      if (limit < 1 || limit > MAX_INSTANCES) {
        throw new IllegalArgumentException("instances is " + limit + ", not 1 to " + MAX_INSTANCES);
      }
      instances = limit;
      return this;
    }

    /**
     * Makes {@link Facts#typoSuggestion} the whole corrected address, not its domain.
     *
     * @param full whether to do so
     * @return this builder
     */
    public Builder fullSuggestion(boolean full) {
      fullSuggestion = full;
      return this;
    }

    /**
     * Sets the lists of providers and words, as {@link Addrspec#setLists} does.
     *
     * @param blob the content of a file {@code lists.blob}; it is copied when the checker is built
     * @return this builder
     */
    public Builder lists(byte[] blob) {
      lists = Objects.requireNonNull(blob, "blob");
      return this;
    }

    /**
     * Creates a checker with these options.
     *
     * @return the checker
     * @throws ListsRefusedException if the module refuses the lists
     */
    public Addrspec build() {
      return new Addrspec(this);
    }
  }
}
