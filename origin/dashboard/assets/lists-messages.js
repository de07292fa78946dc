/**
 * The messages between the page Lists and its worker. Only types.
 *
 * @typedef {import("./list-store.js").Saved} Saved
 * @typedef {import("./survey.js").Survey} Survey
 * @typedef {import("./table.js").Choice} Choice
 * @typedef {import("./table.js").Peek} Peek
 *
 * Where to check: the URL for batches, the token of forms, the URL of the module.
 * @typedef {{ url: string, token: string, module: string }} By
 *
 * @typedef {{ type: "open", file: File, given: Partial<Choice> }
 *   | { type: "survey", file: File, choice: Choice }
 *   | ({ type: "start", file: File, choice: Choice, survey: Survey, offline: boolean, protect: boolean } & By)
 *   | ({ type: "resume", file: File } & By)
 *   | ({ type: "again" } & By)
 *   | { type: "result" }
 *   | { type: "kept" }
 *   | { type: "forget", id: string }} Request
 *
 * @typedef {{ type: "opened", peek: Peek, saved: Saved | null, lasting: boolean }
 *   | { type: "surveying", read: number }
 *   | { type: "surveyed", survey: Survey }
 *   | { type: "progress", saved: Saved }
 *   | { type: "finished", saved: Saved }
 *   | { type: "halted", reason: string, sentence: string, saved: Saved | null }
 *   | { type: "problem", code: string, sentence: string }
 *   | { type: "result", blob: Blob }
 *   | { type: "kept", lists: Saved[] }} Reply
 */

export {};
