/** A bounded map that forgets what was not used lately. */

/**
 * How many addresses a run remembers at most, so that a duplicate costs nothing:
 * at least the 75,000 used last. With their results they take about 50 MB.
 */
export const REMEMBERED = 150_000;

/**
 * Keeps at least half of its limit: the entries used last. They are in two
 * generations, and when the younger is full, the older is forgotten. (A Map in
 * order of use would be exact, but finding its oldest entry takes time in
 * proportion to those that were deleted.)
 *
 * @template K
 * @template V
 */
export class Recent {
  #half;
  /** @type {Map<K, V>} */
  #young = new Map();
  /** @type {Map<K, V>} */
  #old = new Map();

  /** @param {number} limit */
  constructor(limit = REMEMBERED) {
    this.#half = limit / 2;
  }

  /** @param {K} key */
  get(key) {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /**
   * @param {K} key
   * @param {V} value
   */
  set(key, value) {
    this.#young.set(key, value);
    if (this.#young.size < this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  get size() {
    return this.#young.size + this.#old.size;
  }
}
