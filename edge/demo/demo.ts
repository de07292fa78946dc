/** The page: what is typed is checked at once, by the module that the page carries. */

import type { Facts, Refusal } from "../package/index.d.ts";
import { library } from "../package/library.ts";
import { Engine } from "../src/engine.ts";

const EXAMPLES = [
  "jane.doe+news@gmial.com",
  "jane.@example.org",
  "support-eu@example.org",
  "xkqzvwjt@mailinator.com",
  '"john smith"@example.org',
  "josé@bücher.example",
];
const NOT_ASKED = "not asked here"; // a page cannot ask DNS

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const input = element<HTMLInputElement>("address");
const suggestion = element<HTMLButtonElement>("suggestion");

const { load } = library(async () => {
  const { module, instance } = await WebAssembly.instantiate(await carriedModule(), {});
  return new Engine(module, instance);
});

/** The module lies in the page, compressed, so that the page opens from disk too. */
async function carriedModule(): Promise<ArrayBuffer> {
  const packed = await fetch(
    `data:application/octet-stream;base64,${element("module").textContent}`,
  );
  return new Response(packed.body!.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const start = performance.now();
const checker = await load();
const versions = checker.versions();
const ready = performance.now() - start;

function update(): void {
  const email = input.value;
  const before = performance.now();
  const facts = checker.check(email);
  const took = performance.now() - before;
  const refusal = facts.valid ? null : checker.explain(email);
  showVerdict(email, facts, refusal);
  showFacts(facts.valid ? facts : null);
  element("json").textContent = JSON.stringify(facts, null, 2);
  element("footer").textContent =
    `Checked in ${took < 0.1 ? "less than 0.1" : took.toFixed(1)} ms. The module was ready after ${Math.round(ready)} ms: engine ${versions.engine}, lists ${versions.lists}, model ${versions.model}.`;
}

function showVerdict(email: string, facts: Facts, refusal: Refusal | null): void {
  const state = email === "" ? "empty" : refusal ? "invalid" : facts.typo ? "doubtful" : "valid";
  element("verdict").dataset.state = state;
  element("headline").textContent = {
    empty: "Type an address",
    invalid: "Not valid",
    doubtful: "Valid, but perhaps mistyped",
    valid: "Valid",
  }[state];
  element("reason").textContent =
    state === "invalid"
      ? sentence(refusal!)
      : state === "empty"
        ? "It is checked with each key."
        : summary(facts);
  element("norm").textContent = state === "invalid" ? refusal!.section : "";
  showPlace(state === "invalid" ? email : "", refusal?.offset ?? 0);
  suggestion.hidden = facts.typo_suggestion === null;
  suggestion.textContent = `Use ${facts.typo_suggestion ?? ""}`;
}

function sentence({ sentence }: Refusal): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function summary(facts: Facts): string {
  const kinds = [
    facts.role && `a role account (${facts.role})`,
    facts.disposable && "a throw-away provider",
    facts.relay && "a forwarding service",
    facts.public && "a public provider",
    facts.alias && "a plus tag",
    facts.gibberish && "a local part that looks random",
  ].filter(Boolean);
  return kinds.length === 0 ? "Nothing else stands out." : `What stands out: ${kinds.join(", ")}.`;
}

/** Shows the address with the character at fault marked; an end that comes too early is a mark behind it. */
function showPlace(email: string, offset: number): void {
  const place = element("place");
  place.hidden = email === "";
  const before = new TextDecoder().decode(new TextEncoder().encode(email).subarray(0, offset));
  const [at = " "] = email.slice(before.length);
  const mark = document.createElement("mark");
  mark.textContent = at;
  place.replaceChildren(before, mark, email.slice(before.length + at.length));
}

function showFacts(facts: Facts | null): void {
  const rows =
    facts === null
      ? []
      : Object.entries(facts).filter(([name]) => name !== "email" && name !== "valid");
  element("facts").replaceChildren(
    ...rows.map(([name, value]) => row(name, value as Facts[keyof Facts])),
  );
}

function row(name: string, value: Facts[keyof Facts]): HTMLElement {
  const [item, term, detail] = ["div", "dt", "dd"].map((tag) => document.createElement(tag)) as [
    HTMLElement,
    HTMLElement,
    HTMLElement,
  ];
  term.textContent = name;
  detail.textContent =
    name === "mx"
      ? NOT_ASKED
      : value === null
        ? "none"
        : value === true
          ? "yes"
          : value === false
            ? "no"
            : String(value);
  detail.className =
    name === "mx" || value === null || value === false || value === 0
      ? "none"
      : ["disposable", "relay", "typo", "gibberish"].includes(name)
        ? "notable"
        : "";
  if (name === "normalized") item.className = "wide"; // the longest value, and it fills the last row
  item.append(term, detail);
  return item;
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
