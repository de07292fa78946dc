/**
 * Reads and checks a list beside the page, which so never waits. The page sends
 * one request at a time (lists-messages.js); "stop" may come while one is at work.
 */

import { load } from "./addrspec.js";
import { Halt } from "./batches.js";
import { idOf, List, newRun } from "./list.js";
import { ListProblem } from "./list-problem.js";
import { openStore } from "./list-store.js";
import { nothingDone } from "./run.js";
import { survey } from "./survey.js";
import { peek } from "./table.js";

/** @typedef {import("./lists-messages.js").Request} Request */
/** @typedef {import("./lists-messages.js").Reply} Reply */

const PROGRESS_MS = 100;

const store = openStore();
/** @type {List | null} */
let list = null;
/** @type {import("./table.js").Peek | null} */
let seen = null;
let stopped = false;
let progressAt = 0;

self.addEventListener("message", ({ data }) => {
  if (data.type === "stop") {
    stopped = true;
    list?.stop();
  } else {
    stopped = false;
    answer(data).then(send, (error) => send(failure(error)));
  }
});

/** @param {Reply} reply */
function send(reply) {
  /** @type {{ postMessage(message: unknown): void }} */ (
    /** @type {unknown} */ (self)
  ).postMessage(reply);
}

/** @param {() => Reply} reply */
function sendProgress(reply) {
  if (performance.now() - progressAt < PROGRESS_MS) return;
  progressAt = performance.now();
  send(reply());
}

/**
 * @param {unknown} error
 * @returns {Reply}
 */
function failure(error) {
  const saved = list?.saved ?? null;
  if (error instanceof Halt)
    return { type: "halted", reason: error.reason, sentence: error.message, saved };
  if (error instanceof ListProblem)
    return { type: "problem", code: error.code, sentence: error.text };
  return { type: "problem", code: "fault", sentence: `The list cannot be read: ${error}` };
}

/**
 * @param {Request} request
 * @returns {Promise<Reply>}
 */
async function answer(request) {
  switch (request.type) {
    case "open":
      return open(request.file, request.given);
    case "survey":
      return { type: "surveyed", survey: await measure(request.file, request.choice) };
    case "start":
      return alone(await idOf(request.file), () => begin(request).then(() => check(request)));
    case "resume":
      return alone(await idOf(request.file), () => resume(request.file).then(() => check(request)));
    case "again":
      return alone(current().saved.id, () =>
        current()
          .again()
          .then(() => check(request)),
      );
    case "result":
      return { type: "result", blob: await current().result() };
    case "forget":
      await (await store).forget(request.id);
      if (list?.saved.id === request.id) list = null;
      return { type: "kept", lists: await (await store).list() };
    case "kept":
      return { type: "kept", lists: await (await store).list() };
  }
}

/**
 * Does what no other tab may do with the same list at the same time: each would
 * overwrite what the other stores.
 * @param {string} id
 * @param {() => Promise<Reply>} act
 * @returns {Promise<Reply>}
 */
function alone(id, act) {
  if (!navigator.locks) return act(); // only where pages are served without TLS
  return navigator.locks.request(`addrspec list ${id}`, { ifAvailable: true }, (lock) => {
    if (!lock)
      throw new ListProblem(
        "busy",
        "Another tab of this browser is checking the same list. Wait for it, or stop it there.",
      );
    return act();
  });
}

function current() {
  if (!list) throw new Error("there is no list");
  return list;
}

/**
 * @param {File} file
 * @param {Partial<import("./table.js").Choice>} given
 * @returns {Promise<Reply>}
 */
async function open(file, given) {
  seen = await peek(file, given);
  const id = await idOf(file);
  const { lasting } = await store;
  const saved = (await (await store).list()).find((one) => one.id === id) ?? null;
  list = saved && new List(await store, file, saved);
  return { type: "opened", peek: seen, saved, lasting };
}

/**
 * @param {File} file
 * @param {import("./table.js").Choice} choice
 */
function measure(file, choice) {
  return survey(
    file,
    choice,
    (read) => sendProgress(() => ({ type: "surveying", read })),
    () => stopped,
  );
}

/** @param {Extract<Request, { type: "start" }>} request */
async function begin({ file, choice, survey: measured, offline, protect }) {
  const id = await idOf(file);
  const { newline = "\n", mark = false } = seen ?? {};
  await (await store).forget(id);
  /** @type {import("./list-store.js").Saved} */
  const saved = {
    id,
    name: file.name,
    run: newRun(),
    pass: 1,
    parts: 0,
    finished: false,
    done: nothingDone(),
    choice,
    survey: measured,
    newline,
    mark,
    offline,
    protect,
    changed: Date.now(),
  };
  await (await store).save(saved); // before the first request, so that it is repeated under the same key
  list = new List(await store, file, saved);
}

/** @param {File} file */
async function resume(file) {
  const id = await idOf(file);
  const saved = (await (await store).list()).find((one) => one.id === id);
  if (!saved)
    throw new ListProblem(
      "gone",
      "The progress of this list is not in this browser any more. Start it anew.",
    );
  list = new List(await store, file, saved);
}

/**
 * @param {import("./lists-messages.js").By} by
 * @returns {Promise<Reply>}
 */
async function check({ url, token, module }) {
  await current().check({ url, token, module: () => load(module) }, (saved) =>
    sendProgress(() => ({ type: "progress", saved })),
  );
  return { type: "finished", saved: current().saved };
}
