/** The demo page: checks the address on each key, with the module that is in the page. */

import type { Facts, Refusal } from "../package/index.d.ts";
import { library } from "../package/library.ts";
import { Engine } from "../src/engine.ts";

type Value = Facts[keyof Facts];

const EXAMPLES = [
  "jane.doe+news@gmial.com",
  "jane.@example.org",
  "support-eu@example.org",
  "xkqzvwjt@mailinator.com",
  '"john smith"@example.org',
  "josé@bücher.example",
];
/** Fields that are marked when they are true. */
const NOTABLE = ["disposable", "relay", "typo", "gibberish"];

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const input = element<HTMLInputElement>("address");
const suggestion = element<HTMLButtonElement>("suggestion");

const { load } = library(async () => {
  const { module, instance } = await WebAssembly.instantiate(await embeddedModule(), {});
  return new Engine(module, instance);
});

/** Returns the module, which is in the page, compressed, so that the page also opens from disk. */
async function embeddedModule(): Promise<ArrayBuffer> {
  const url = `data:application/octet-stream;base64,${element("module").textContent}`;
  const compressed = await fetch(url);
  const module = compressed.body?.pipeThrough(new DecompressionStream("gzip"));
  return new Response(module).arrayBuffer();
}

const start = performance.now();
const checker = await load();
const versions = checker.versions();
const loadMS = Math.round(performance.now() - start);

function update(): void {
  const email = input.value;
  const before = performance.now();
  const facts = checker.check(email);
  const checkMS = performance.now() - before;
  showVerdict(email, facts);
  showFacts(facts.valid ? facts : null);
  element("json").textContent = JSON.stringify(facts, null, 2);
  element("footer").textContent = footer(checkMS);
}

function footer(checkMS: number): string {
  const { engine, lists, model } = versions;
  return (
    `Checked in ${checkMS < 0.1 ? "less than 0.1" : checkMS.toFixed(1)} ms. `
    + `The module was ready after ${loadMS} ms: engine ${engine}, lists ${lists}, model ${model}.`
  );
}

function showVerdict(email: string, facts: Facts): void {
  const refusal = email === "" || facts.valid ? null : checker.explain(email);
  if (email === "") show("empty", "Type an address", "It is checked as you type.");
  else if (refusal !== null) show("invalid", "Not valid", toSentence(refusal.sentence));
  else if (facts.typo) show("doubtful", "Valid, but perhaps mistyped", summary(facts));
  else show("valid", "Valid", summary(facts));
  element("section").textContent = refusal?.section ?? "";
  showPosition(email, refusal);
  suggestion.hidden = facts.typo_suggestion === null;
  suggestion.textContent = `Use ${facts.typo_suggestion ?? ""}`;
}

function show(state: string, headline: string, reason: string): void {
  element("verdict").dataset.state = state;
  element("headline").textContent = headline;
  element("reason").textContent = reason;
}

/** Adds a capital and a full stop to the module's clause. */
function toSentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function summary(facts: Facts): string {
  const kinds = [
    facts.role && `a role account (${facts.role})`,
    facts.disposable && "a disposable provider",
    facts.relay && "a forwarding service",
    facts.public && "a public provider",
    facts.alias && "a plus tag",
    facts.gibberish && "a local part that looks random",
  ].filter(Boolean);
  return kinds.length === 0 ? "Nothing else to note." : `Note: ${kinds.join(", ")}.`;
}

/** Shows the address with the offending character marked, or with a mark after a premature end. */
function showPosition(email: string, refusal: Refusal | null): void {
  const position = element("position");
  position.hidden = refusal === null;
  if (refusal === null) return;
  const bytes = new TextEncoder().encode(email).subarray(0, refusal.offset);
  const before = new TextDecoder().decode(bytes);
  const [character = " "] = email.slice(before.length);
  const mark = document.createElement("mark");
  mark.textContent = character;
  position.replaceChildren(before, mark, email.slice(before.length + character.length));
}

function showFacts(facts: Facts | null): void {
  const fields = Object.entries(facts ?? {}) as [string, Value][];
  const shown = fields.filter(([name]) => name !== "email" && name !== "valid");
  element("facts").replaceChildren(...shown.map(([name, value]) => row(name, value)));
}

function row(name: string, value: Value): HTMLElement {
  const item = document.createElement("div");
  const term = document.createElement("dt");
  const detail = document.createElement("dd");
  term.textContent = name;
  detail.textContent = name === "mx" ? "not looked up here" : display(value); // a page has no DNS
  detail.className = classOf(name, value);
  if (name === "normalized") item.className = "wide"; // the longest value; it fills the last row
  item.append(term, detail);
  return item;
}

function display(value: Value): string {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

function classOf(name: string, value: Value): string {
  if (name === "mx" || value === null || value === false || value === 0) return "none";
  return NOTABLE.includes(name) ? "notable" : "";
}

function check(email: string): void {
  input.value = email;
  update();
}

for (const example of EXAMPLES) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = example;
  button.addEventListener("click", () => check(example));
  element("examples").append(button);
}
suggestion.addEventListener("click", () => {
  const suggested = checker.check(input.value, { typoSuggestion: "address" }).typo_suggestion;
  if (suggested !== null) check(suggested);
});
input.addEventListener("input", update);
input.disabled = false;
input.focus();
update();
