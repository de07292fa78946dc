/**
 * The page Lists: chooses a file, shows how it is read and what it costs, checks its
 * addresses and offers the result. Results are in memory until another file or way
 * of checking is chosen, so after a stop only the rest is checked.
 */

import { load } from "./addrspec.js";
import {
  accountChecker,
  checkList,
  figuresOf,
  Halt,
  leftOf,
  offlineChecker,
} from "./list-check.js";
import { costSentence } from "./list-cost.js";
import { addressesOf, formulasOf, namesOf, readList, writeList } from "./list-file.js";
import { decode, ListProblem } from "./list-text.js";

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {{ new (): T }} type
 * @returns {T}
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

const page = element("lists", HTMLElement);
const picker = element("file", HTMLInputElement);
const reading = element("reading", HTMLFormElement);
const encoding = element("encoding", HTMLSelectElement);
const delimiter = element("delimiter", HTMLSelectElement);
const header = element("has-header", HTMLInputElement);
const column = element("column", HTMLSelectElement);
const starting = element("starting", HTMLFormElement);
const protect = element("protect", HTMLInputElement);
const bar = element("bar", HTMLProgressElement);
const download = element("download", HTMLAnchorElement);

/** @type {File | null} */
let file = null;
/** How to read it, as far as that was chosen. @type {Partial<import("./list-file.js").Choice>} */
let chosen = {};
/** @type {import("./list-file.js").List | null} */
let list = null;
/** @type {string[]} */
let addresses = [];
/** @type {Map<string, import("./list-file.js").Result>} */
let results = new Map();
let points = 0;
let figured = 0; // when the figures were shown
/** @type {import("./list-cost.js").Usage | null} */
let usage = null;
/** @type {AbortController | null} of the checks in progress */
let running = null;

page.hidden = false;

/** Shows some of the steps. @param {string[]} ids */
function show(...ids) {
  for (const id of ["problem-card", "reading", "starting", "running", "summary", "finished"]) {
    element(id, HTMLElement).hidden = !ids.includes(id);
  }
}

/** @param {string} id @param {string} text */
function write(id, text) {
  element(id, HTMLElement).textContent = text;
}

const number = (/** @type {number} */ n) => n.toLocaleString("en");
const isOffline = () => element("offline", HTMLInputElement).checked;

picker.addEventListener("change", () => choose(picker.files?.[0]));
page.addEventListener("dragover", (event) => event.preventDefault());
page.addEventListener("drop", (event) => {
  event.preventDefault();
  void choose(event.dataTransfer?.files[0]);
});
addEventListener("beforeunload", (event) => running && event.preventDefault());
void choose(picker.files?.[0]); // chosen before this script ran, or kept by a reload

/** @param {File | undefined} picked */
async function choose(picked) {
  if (!picked) return;
  running?.abort();
  file = picked;
  list = null;
  forget();
  write("status", `${picked.name} is read.`);
  show();
  chosen = {};
  await read();
}

function forget() {
  results = new Map();
  points = 0;
}

reading.addEventListener("change", ({ target }) => {
  // What was found out is not a choice. Another separator makes other columns.
  const { encoding: before, delimiter: separator } = chosen;
  chosen = {};
  if (target === encoding || before) chosen.encoding = encoding.value;
  if (target !== encoding || separator !== undefined)
    chosen.delimiter = delimiter.value === "text" ? "" : delimiter.value;
  if (target === header || target === column)
    Object.assign(chosen, { header: header.checked, column: Number(column.value) });
  void read();
});

async function read() {
  if (!file) return;
  const [picked, given] = [file, chosen];
  try {
    const found = await readList(picked, given, page.dataset.names ?? "");
    const now = await fetchUsage();
    if (file !== picked || chosen !== given) return; // another one was chosen meanwhile
    list = found;
    usage = now;
    addresses = addressesOf(found);
    showChoice(found);
    showStart(found);
  } catch (error) {
    problem(error);
  }
}

/** The account's points at this moment; null if they cannot be read. */
async function fetchUsage() {
  try {
    const response = await fetch(location.pathname, {
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(5000),
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** @param {unknown} error */
function problem(error) {
  const known = error instanceof ListProblem ? error : new ListProblem(`It failed: ${error}`);
  write("problem-text", known.message);
  write("status", "");
  const asks = known.choose === "encoding";
  if (asks) encoding.selectedIndex = -1;
  const samples = [...encoding.options].map(({ text, value }) => [
    text,
    ...known.words.map((word) => decode(word, value).text),
  ]);
  const names = ["Encoding", ...known.words.map((_, n) => `Word ${n + 1}`)];
  showPreview(asks ? names : [], asks ? samples : [], -1);
  write("words", "");
  element("layout", HTMLElement).hidden = known.choose !== "layout";
  show("problem-card", ...(known.choose ? ["reading"] : []));
}

/** @param {import("./list-file.js").List} found */
function showChoice(found) {
  const { choice, rows, words, lossy } = found;
  element("layout", HTMLElement).hidden = false;
  encoding.value = choice.encoding;
  delimiter.value = choice.delimiter === "" ? "text" : choice.delimiter;
  header.checked = choice.header;
  const names = namesOf(found).map((text, n) => text || `Column ${n + 1}`);
  column.replaceChildren(
    ...names.map((text, n) => new Option(clip(text), String(n), false, n === choice.column)),
  );
  const sample = words.length > 0 ? `Words in this encoding: ${words.map(clip).join(" · ")}.` : "";
  const gaps = lossy ? "Bytes not in this encoding became �, and their rows are not checked." : "";
  write("words", `${sample} ${gaps}`.trim());
  showPreview(
    names,
    rows.slice(0, 5).map(({ cells }) => cells),
    choice.column,
  );
}

/**
 * @param {string[]} names
 * @param {string[][]} rows
 * @param {number} address the column of addresses
 */
function showPreview(names, rows, address) {
  const shown = names.slice(0, 20);
  const mark = (/** @type {number} */ n) => ({ className: n === address ? "chosen" : "" });
  element("preview-head", HTMLElement).replaceChildren(
    ...shown.map((name, n) => cell("th", name, { ...mark(n), scope: "col" })),
  );
  element("preview-body", HTMLElement).replaceChildren(
    ...rows.map((cells) => row(shown.map((_, n) => cell("td", cells[n] ?? "", mark(n))))),
  );
}

/** @param {"th" | "td"} tag @param {string} text @param {Partial<HTMLTableCellElement>} more */
const cell = (tag, text, more) =>
  Object.assign(document.createElement(tag), { textContent: clip(text), ...more });

/** @param {HTMLElement[]} cells */
function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

/** @param {string} text */
const clip = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

/** @param {import("./list-file.js").List} found */
function showStart(found) {
  const formulas = formulasOf(found);
  element("formulas", HTMLElement).hidden = formulas === 0;
  write(
    "formulas",
    `${count(formulas, "cell")} of your file may be run as a formula by a spreadsheet, such as a number that begins with + or -. With the box checked, an apostrophe is put before that.`,
  );
  write(
    "status",
    `${count(found.rows.length, "row")}, ${count(addresses.length, "different address", "different addresses")}${withoutAddress(found)}.`,
  );
  showCost();
  show("reading", "starting");
}

/** How many rows have no address that can be checked. @param {import("./list-file.js").List} list */
function withoutAddress({ rows }) {
  const none = rows.filter(({ failure }) => failure?.code === "NO_ADDRESS").length;
  const bad = rows.filter(({ failure }) => failure).length - none;
  return [
    none > 0 ? `, ${count(none, "row")} without an address` : "",
    bad > 0 ? `, ${count(bad, "row")} that cannot be read` : "",
  ].join("");
}

/** @param {number} n @param {string} one @param {string} many */
const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

starting.addEventListener("change", showCost);

function showCost() {
  const left = leftOf(addresses, results).length;
  const { text, enough, button, startable } = costSentence(left, usage, isOffline());
  write("cost", text);
  element("cost", HTMLElement).className = enough ? "notice" : "notice warn";
  const start = element("start", HTMLButtonElement);
  start.textContent = button;
  start.disabled = !startable;
}

starting.addEventListener("submit", (event) => {
  event.preventDefault();
  forget();
  void check();
});
on("again", () => void check());
on("stop", () => running?.abort());

/** @param {string} id @param {() => void} act */
function on(id, act) {
  element(id, HTMLButtonElement).addEventListener("click", act);
}

async function check() {
  if (!list || running) return;
  const checked = list;
  const controller = new AbortController();
  running = controller;
  showFigures(checked);
  show("running", "summary");
  write("status", "Checking.");
  showProgress();
  let sentence = "The list is done.";
  try {
    await checkList(addresses, results, await checker(), controller.signal, showProgress);
  } catch (error) {
    sentence = controller.signal.aborted ? "Stopped." : sentenceOf(error);
  }
  running = null;
  if (list === checked) finish(checked, sentence);
}

async function checker() {
  if (isOffline()) {
    return offlineChecker(await load(new URL(page.dataset.module ?? "", location.href).href));
  }
  return accountChecker({
    url: page.dataset.check ?? "",
    token: document.querySelector('meta[name="form-token"]')?.getAttribute("content") ?? "",
    onCharge: (charged) => {
      points += charged;
    },
  });
}

/** @param {unknown} error */
function sentenceOf(error) {
  const sentence = error instanceof Halt ? error.message : `Checking failed: ${error}`;
  write("problem-text", sentence);
  return sentence;
}

function showProgress() {
  bar.max = Math.max(1, addresses.length);
  bar.value = results.size;
  if (list && Date.now() > figured + 1000) showFigures(list);
  write(
    "progress-text",
    `${number(results.size)} of ${number(addresses.length)} addresses (${Math.floor((100 * bar.value) / bar.max)} %) · ${count(points, "point")}`,
  );
}

/** @param {import("./list-file.js").List} checked */
function showFigures(checked) {
  figured = Date.now();
  element("figures", HTMLElement).replaceChildren(
    ...figuresOf(checked, results, !isOffline()).map(([name, ...numbers]) =>
      row([
        cell("th", name, { scope: "row" }),
        ...numbers.map((text) => cell("td", text, { className: "number" })),
      ]),
    ),
  );
}

/** @param {import("./list-file.js").List} checked @param {string} sentence */
function finish(checked, sentence) {
  write(
    "counts",
    `${count(results.size, "address", "addresses")} checked, ${number(addresses.length - results.size)} not. It cost ${count(points, "point")}.`,
  );
  showFigures(checked);
  element("offline-note", HTMLElement).hidden = !isOffline();
  const left = leftOf(addresses, results).length;
  element("again", HTMLElement).hidden = left === 0;
  write("again", `Check the ${number(left)} that are left`);
  offer(checked);
  const failed = sentence !== "The list is done." && sentence !== "Stopped.";
  show("summary", "finished", ...(failed ? ["problem-card"] : []));
  write("status", sentence);
}

/** @param {import("./list-file.js").List} checked */
function offer(checked) {
  const text = writeList(checked, results, protect.checked);
  URL.revokeObjectURL(download.href);
  download.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  download.download = `${(file?.name ?? "list").replace(/\.[^.]*$/, "")}.checked.csv`;
}
