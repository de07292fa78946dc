/** How fast a list is checked, and when it will be done. */

const WINDOW_MS = 10_000;

export class Speed {
  /** @type {{ at: number, rows: number }[]} */
  #points = [];

  /**
   * Takes how many rows are done at a time in milliseconds.
   * @param {number} rows
   * @param {number} at
   */
  add(rows, at) {
    this.#points.push({ at, rows });
    while (
      this.#points.length > 2
      && at - /** @type {{ at: number }} */ (this.#points[0]).at > WINDOW_MS
    )
      this.#points.shift();
  }

  /** Rows a second during the last ten seconds; 0 if unknown. */
  get rate() {
    const first = this.#points[0];
    const last = this.#points.at(-1);
    if (!first || !last || last.at === first.at) return 0;
    return (1000 * (last.rows - first.rows)) / (last.at - first.at);
  }

  /**
   * @param {number} total rows of the list
   * @returns {string} such as "about 3 minutes left", "" if unknown
   */
  left(total) {
    const done = this.#points.at(-1)?.rows ?? 0;
    if (this.rate === 0 || done >= total) return "";
    return `${duration((total - done) / this.rate)} left`;
  }
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} seconds`;
  if (seconds < 90 * 60) return `about ${Math.round(seconds / 60)} minutes`;
  return `about ${Math.round(seconds / 3600)} hours`;
}
