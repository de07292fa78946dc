/** The page Lists. A worker reads and checks the file; this shows what it reports. */

import { costSentence } from "./list-cost.js";
import { Speed } from "./speed.js";

/** @typedef {import("./lists-messages.js").Reply} Reply */
/** @typedef {import("./lists-messages.js").Request} Request */
/** @typedef {import("./lists-messages.js").Saved} Saved */
/** @typedef {import("./table.js").Choice} Choice */

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
const cost = element("cost", HTMLElement);
const bar = element("bar", HTMLProgressElement);
const download = element("download", HTMLAnchorElement);
const worker = new Worker(page.dataset.worker ?? "", { type: "module" });

/** @type {File | null} */
let file = null;
/** @type {import("./survey.js").Survey | null} */
let survey = null;
/** @type {import("./list-cost.js").Usage | null} */
let usage = null;
let speed = new Speed();
/** @type {Partial<Choice>} what the user has chosen, not guessed */
let given = {};
let busy = false;
/** @type {Request | null} what to do after the present request */
let next = null;

page.hidden = false;
send({ type: "kept" });

/**
 * Sends a request to the worker, which handles one at a time.
 * @param {Request} request
 */
function send(request) {
  if (request.type === "open" || request.type === "survey") survey = null;
  if (busy) {
    next = request;
    worker.postMessage({ type: "stop" });
    return;
  }
  busy = true;
  worker.postMessage(request);
}

/** Shows one of the steps, and what belongs to it. @param {string[]} ids */
function show(...ids) {
  for (const id of ["problem-card", "saved-card", "reading", "starting", "running", "finished"]) {
    element(id, HTMLElement).hidden = !ids.includes(id);
  }
}

const by = () => ({
  url: new URL(page.dataset.check ?? "", location.href).href,
  module: new URL(page.dataset.module ?? "", location.href).href,
  token: document.querySelector('meta[name="form-token"]')?.getAttribute("content") ?? "",
});

const number = (/** @type {number} */ n) => n.toLocaleString("en");

picker.addEventListener("change", () => choose(picker.files?.[0]));
page.addEventListener("dragover", (event) => event.preventDefault());
page.addEventListener("drop", (event) => {
  event.preventDefault();
  choose(event.dataTransfer?.files[0]);
});

/** @param {File | undefined} chosen */
function choose(chosen) {
  if (!chosen) return;
  file = chosen;
  given = {};
  show();
  say(`${chosen.name} is read.`);
  send({ type: "open", file, given });
}

reading.addEventListener("change", (event) => {
  if (!file) return;
  given = {
    encoding: /** @type {Choice["encoding"]} */ (encoding.value),
    delimiter: delimiter.value === "text" ? "" : delimiter.value,
  };
  // Another separator makes other columns, so these are guessed anew.
  if (event.target === header || event.target === column) {
    given = { ...given, header: header.checked, column: Number(column.value) };
  }
  send({ type: "open", file, given });
});

starting.addEventListener("change", showCost);
starting.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!file || !survey) return;
  const protect = element("protect", HTMLInputElement).checked;
  begin({ type: "start", file, choice: choice(), survey, offline: isOffline(), protect, ...by() });
});

on("stop", () => {
  say("Stopping: the batches under way are finished.");
  worker.postMessage({ type: "stop" });
});
on("resume", () => file && begin({ type: "resume", file, ...by() }));
on("restart", () => file && send({ type: "survey", file, choice: choice() }));
on("partly", () => send({ type: "result" }));
on("again", () => begin({ type: "again", ...by() }));

/**
 * @param {string} id
 * @param {() => void} act
 */
function on(id, act) {
  element(id, HTMLButtonElement).addEventListener("click", act);
}

/** @param {Request} request */
function begin(request) {
  speed = new Speed();
  bar.removeAttribute("value");
  show("running");
  say("Checking.");
  send(request);
}

/** @returns {Choice} */
function choice() {
  return /** @type {Choice} */ (given);
}

function isOffline() {
  return element("offline", HTMLInputElement).checked;
}

worker.addEventListener("error", (event) => {
  problem("fault", `The page's worker failed: ${event.message}. Load the page again.`);
});
worker.addEventListener("message", (event) => {
  /** @type {Reply} */
  const reply = event.data;
  if (reply.type === "surveying") {
    showReading(reply.read);
    return;
  }
  if (reply.type === "progress") {
    showProgress(reply.saved);
    return;
  }
  busy = false;
  if (next) {
    const request = next;
    next = null;
    send(request); // what was asked for meanwhile
    return;
  }
  receive(reply);
});

/** @param {Reply} reply */
function receive(reply) {
  switch (reply.type) {
    case "opened":
      return opened(reply);
    case "surveyed":
      return surveyed(reply.survey);
    case "finished":
      return finished(reply.saved);
    case "halted":
      return halted(reply);
    case "problem":
      return problem(reply.code, reply.sentence);
    case "result":
      return offer(reply.blob);
    case "kept":
      return showKept(reply.lists);
  }
}

/** @param {Extract<Reply, { type: "opened" }>} reply */
function opened({ peek, saved, lasting }) {
  if (!file) return;
  given = peek.choice;
  showChoice(peek);
  element("not-lasting", HTMLElement).hidden = lasting;
  if (saved) {
    showSaved(saved);
    return;
  }
  show("reading");
  send({ type: "survey", file, choice: peek.choice });
}

/** @param {import("./table.js").Peek} peek */
function showChoice({ choice: made, sample }) {
  encoding.value = made.encoding;
  delimiter.value = made.delimiter === "" ? "text" : made.delimiter;
  header.checked = made.header;
  const width = Math.max(1, ...sample.map((cells) => cells.length));
  const names = Array.from(
    { length: width },
    (_, n) => (made.header && sample[0]?.[n]) || `Column ${n + 1}`,
  );
  column.replaceChildren(
    ...names.map((name, n) => new Option(clip(name), String(n), false, n === made.column)),
  );
  showPreview(names, sample.slice(made.header ? 1 : 0, made.header ? 6 : 5), made.column);
}

/**
 * @param {string[]} names
 * @param {string[][]} rows
 * @param {number} address the column of addresses
 */
function showPreview(names, rows, address) {
  const shown = names.slice(0, 20);
  const cell = (/** @type {string} */ tag, /** @type {string} */ text, /** @type {number} */ n) => {
    const made = document.createElement(tag);
    made.textContent = clip(text);
    if (n === address) made.className = "chosen";
    return made;
  };
  element("preview-head", HTMLElement).replaceChildren(
    ...shown.map((name, n) => {
      const made = cell("th", name, n);
      made.setAttribute("scope", "col");
      return made;
    }),
  );
  element("preview-body", HTMLElement).replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...shown.map((_, n) => cell("td", cells[n] ?? "", n)));
      return row;
    }),
  );
}

/** @param {string} text */
function clip(text) {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** @param {number} read */
function showReading(read) {
  say(`Reading: ${Math.floor((100 * read) / Math.max(1, file?.size ?? 1))} %`);
}

/** @param {import("./survey.js").Survey} found */
async function surveyed(found) {
  survey = found;
  say(
    `${number(found.rows)} rows with ${number(found.addresses)} addresses, ${number(found.distinct)} of them to check.`,
  );
  const formulas = element("formulas", HTMLElement);
  formulas.hidden = found.formulas === 0;
  formulas.textContent = `${number(found.formulas)} cells of your file begin with =, +, -, @, a tab or a line break. They are given back unchanged: a spreadsheet may run them as formulas.`;
  show("reading");
  usage = await fetchUsage();
  if (survey !== found) return; // another file or column was chosen
  showCost();
  show("reading", "starting"); // not before the cost is known
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

function showCost() {
  if (!survey) return;
  const { text, enough, button, startable } = costSentence(survey, usage, isOffline());
  cost.textContent = text;
  cost.className = enough ? "notice" : "notice warn";
  const start = element("start", HTMLButtonElement);
  start.textContent = button;
  start.disabled = !startable;
}

/** @param {Saved} saved */
function showSaved(saved) {
  if (saved.finished) {
    finished(saved);
    return;
  }
  element("saved-text", HTMLElement).textContent =
    `${number(written(saved))} of ${number(saved.survey.rows)} rows are done. Those are not checked again and cost nothing more.`;
  show("saved-card");
  say("This list was begun before.");
}

/** @param {Saved} saved */
function written({ done }) {
  return done.counts.valid + done.counts.invalid + done.counts.failed + done.counts.none;
}

/** @param {Saved} saved */
function showProgress(saved) {
  const rows = written(saved);
  const total = Math.max(1, saved.survey.rows);
  speed.add(rows, performance.now());
  bar.max = total;
  bar.value = rows;
  const rate = speed.rate > 0 ? ` · ${number(Math.round(speed.rate))} rows a second` : "";
  const left = speed.left(total);
  element("progress-text", HTMLElement).textContent =
    `${number(rows)} of ${number(total)} rows (${Math.floor((100 * rows) / total)} %)${rate}${left && ` · ${left}`} · ${number(saved.done.points)} points`;
}

/** @param {Saved} saved */
function finished(saved) {
  const { valid, invalid, failed, none } = saved.done.counts;
  const blank = none > 0 ? ` ${number(none)} rows have no address.` : "";
  element("counts", HTMLElement).textContent =
    `${number(valid)} valid, ${number(invalid)} invalid, ${number(failed)} could not be checked.${blank} It cost ${number(saved.done.points)} points.`;
  element("offline-note", HTMLElement).hidden = !saved.offline;
  const again = element("again", HTMLButtonElement);
  again.hidden = failed === 0;
  again.textContent =
    failed === 1 ? "Check the failure again" : `Check the ${number(failed)} failures again`;
  show("finished");
  say("The list is done.");
  download.hidden = true;
  send({ type: "result" });
}

/** @param {Blob} blob */
function offer(blob) {
  URL.revokeObjectURL(download.href);
  download.href = URL.createObjectURL(blob);
  download.download = `${(file?.name ?? "list").replace(/\.[^.]*$/, "")}.checked.csv`;
  download.hidden = false;
  if (element("finished", HTMLElement).hidden)
    download.click(); // what is done of a list that stopped
  else send({ type: "kept" });
}

/** @param {Extract<Reply, { type: "halted" }>} reply */
function halted({ reason, sentence, saved }) {
  if (saved) showSaved(saved);
  if (reason !== "stopped") {
    element("problem-text", HTMLElement).textContent = sentence;
    element("windows", HTMLElement).hidden = true;
    element("problem-card", HTMLElement).hidden = false;
  }
  say(sentence);
}

/**
 * @param {string} code
 * @param {string} sentence
 */
function problem(code, sentence) {
  element("problem-text", HTMLElement).textContent = sentence;
  element("windows", HTMLElement).hidden = code !== "encoding";
  show(
    "problem-card",
    ...(["quote", "cells", "row", "encoding"].includes(code) ? ["reading"] : []),
  );
  say("");
}

on("windows", () => {
  encoding.value = "windows-1252";
  reading.dispatchEvent(new Event("change"));
});

/** @param {string} text */
function say(text) {
  element("status", HTMLElement).textContent = text;
}

/** @param {Saved[]} lists */
function showKept(lists) {
  element("kept", HTMLElement).hidden = lists.length === 0;
  element("kept-lists", HTMLElement).replaceChildren(
    ...lists.map((saved) => {
      const item = document.createElement("li");
      const forget = document.createElement("button");
      forget.type = "button";
      forget.className = "second";
      forget.textContent = "Forget";
      forget.setAttribute("aria-label", `Forget ${saved.name}`);
      forget.addEventListener("click", () => {
        if (file && saved.name === file.name) show();
        send({ type: "forget", id: saved.id });
      });
      const state = saved.finished
        ? "done"
        : `${number(written(saved))} of ${number(saved.survey.rows)} rows`;
      item.append(
        `${saved.name}: ${state}, ${new Date(saved.changed).toLocaleDateString("en")} `,
        forget,
      );
      return item;
    }),
  );
}
