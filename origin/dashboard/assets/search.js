/**
 * The search box of the documentation. The index (Index of package docs) is loaded when the box gets
 * the focus, and is searched here: nothing that is typed is sent.
 */

/** A section, or a row of a table, which has a dot in its anchor and comes after its section. */
/** @typedef {[page: number, anchor: string, title: string, text: string, names?: string]} Entry */
/** @typedef {{ pages: [path: string, title: string][], entries: Entry[] }} Index */
/** @typedef {{ path: string, title: string, place: string, text: string }} Result */

const MOST_RESULTS = 20;
const MOST_WORDS = 8;
const EXCERPT = 140; // characters
const IN_PLACE = 1; // the rank of a word that only the titles above an entry have

/** Makes a search box work. @param {HTMLFormElement} form */
export function searchBox(form) {
  const input = /** @type {HTMLInputElement} */ (form.querySelector("input"));
  const list = /** @type {HTMLElement} */ (form.querySelector("ol"));
  const status = /** @type {HTMLElement} */ (form.querySelector("[role=status]"));
  /** @type {Promise<Index> | undefined} */
  let loading;

  /** Loads the index once; after a failure, again. */
  function load() {
    loading ??= fetchIndex(form.dataset.index ?? "").catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  /** Shows what the query finds. */
  async function show() {
    const query = input.value;
    if (query.trim() === "") return close();
    try {
      const results = search(await load(), query);
      if (query !== input.value) return; // the next query shows its own
      const pattern = matcher(query);
      list.replaceChildren(...results.map((result) => item(result, pattern)));
      status.textContent = sentence(results.length);
    } catch {
      status.textContent = "The search could not be loaded. Enter leads to all headings.";
    }
  }

  function close() {
    list.replaceChildren();
    status.textContent = "";
  }

  input.addEventListener("focus", () => load().catch(() => {})); // show reports it
  input.addEventListener("input", show);
  list.addEventListener("click", close);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await show();
    const first = list.querySelector("a");
    if (first) first.click();
    else if (!loading) form.submit();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && status.textContent !== "") {
      event.preventDefault(); // keeps the query
      input.focus();
      close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    if (status.textContent === "") show();
    const places = [input, ...list.querySelectorAll("a")];
    places[places.findIndex((place) => place.matches(":focus")) + step]?.focus();
  });
  for (const leave of ["focusin", "pointerdown"]) {
    document.addEventListener(leave, ({ target }) => {
      if (target instanceof Node && !form.contains(target)) close();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || types(event)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

/** Whether a key is text for what has the focus. @param {KeyboardEvent} event */
function types({ target }) {
  const editable = "input, textarea, select";
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(editable));
}

/** @param {string} url @returns {Promise<Index>} */
async function fetchIndex(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

/** @param {number} results */
function sentence(results) {
  if (results === 0) return "Nothing found.";
  if (results === MOST_RESULTS) return `The best ${MOST_RESULTS} results`;
  return results === 1 ? "1 result" : `${results} results`;
}

/** @param {Result} result @param {RegExp | undefined} pattern */
function item({ path, title, place, text }, pattern) {
  const link = document.createElement("a");
  link.href = path;
  link.append(marked("b", title, pattern), " ", marked("small", place, pattern));
  if (text !== "") link.append(" ", marked("span", excerpt(text, pattern), pattern));
  const one = document.createElement("li");
  one.append(link);
  return one;
}

/**
 * An element with a text in which what a pattern matches is marked.
 * @param {string} name of the element
 * @param {string} text
 * @param {RegExp | undefined} pattern
 */
function marked(name, text, pattern) {
  const element = document.createElement(name);
  split(text, pattern).forEach((piece, n) => {
    const mark = document.createElement("mark");
    mark.textContent = piece;
    element.append(n % 2 === 1 ? mark : piece);
  });
  return element;
}

/**
 * Finds the entries that have all words of a query. A word finds what begins with it: typo finds
 * typo_suggestion, and so does suggestion. The best come first.
 * @param {Index} index
 * @param {string} query
 * @returns {Result[]}
 */
export function search(index, query) {
  const words = patterns(query).map((pattern) => new RegExp(pattern, "iu"));
  const whole = query.trim().toLowerCase();
  const found = [];
  let section = "";
  for (const [page, anchor, title, text, names = ""] of words.length > 0 ? index.entries : []) {
    const [path = "", pageTitle = ""] = index.pages[page] ?? [];
    const isRow = anchor.includes(".");
    if (!isRow) section = title;
    const place = [...new Set([pageTitle, section])].filter((one) => one !== title).join(", ");
    const ranks = words.map((word) => rank(word, title, `${names} ${text}`, place));
    if (ranks.includes(0) || Math.max(...ranks) === IN_PLACE) continue;
    const meant = names.split("\n").includes(whole) ? 200 : title.toLowerCase() === whole ? 100 : 0;
    const score = ranks.reduce((sum, one) => sum + one, meant);
    const result = { path: anchor === "" ? path : `${path}#${anchor}`, title, place, text };
    found.push({ result, score: isRow ? score : score + 1 });
  }
  found.sort((a, b) => b.score - a.score); // stable: equals are in reading order
  return found.slice(0, MOST_RESULTS).map(({ result }) => result);
}

/**
 * How well an entry has a word; 0 if it does not. A word that is most of a title is what was meant.
 * @param {RegExp} word
 * @param {string} title
 * @param {string} text
 * @param {string} place
 */
function rank(word, title, text, place) {
  const found = word.exec(title);
  if (found) return (found.index === 0 ? 20 : 10) + (9 * found[0].length) / title.length;
  if (word.test(text)) return 2;
  return word.test(place) ? IN_PLACE : 0;
}

/** Patterns of the words of a query, where a word or a part of a name begins. @param {string} query */
function patterns(query) {
  const words = query.trim().split(/\s+/u).slice(0, MOST_WORDS).filter(Boolean);
  const longestFirst = words.sort((a, b) => b.length - a.length); // in an alternative, the first wins
  return longestFirst.map(
    (word) => `(?<![\\p{L}\\p{N}])${word.replace(/[\^$\\.*+?()[\]{}|/]/gu, "\\$&")}`,
  );
}

/** A pattern of all words of a query; undefined if it has none. @param {string} query */
export function matcher(query) {
  const words = patterns(query);
  return words.length === 0 ? undefined : new RegExp(`(${words.join("|")})`, "iu");
}

/**
 * Splits a text at what a pattern matches: the pieces with odd numbers match.
 * @param {string} text
 * @param {RegExp | undefined} pattern
 */
export function split(text, pattern) {
  return pattern ? text.split(pattern) : [text];
}

/**
 * The part of a text around what a pattern matches first.
 * @param {string} text
 * @param {RegExp | undefined} pattern
 */
export function excerpt(text, pattern) {
  const at = pattern ? Math.max(0, text.search(pattern)) : 0;
  const start = at < EXCERPT / 2 ? 0 : text.lastIndexOf(" ", at - EXCERPT / 4) + 1;
  const end = start + EXCERPT < text.length ? text.lastIndexOf(" ", start + EXCERPT) : text.length;
  const part = text.slice(start, end > start ? end : start + EXCERPT);
  return `${start > 0 ? "… " : ""}${part}${end < text.length ? " …" : ""}`;
}
