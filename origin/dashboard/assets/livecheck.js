// Made from edge/demo/livecheck.ts: node edge/build.mjs livecheck - DIRECTORY
// @ts-nocheck

// demo/livecheck.ts
var DOUBTS = [
  ["typo", "perhaps mistyped"],
  ["disposable", "of a throw-away provider"],
  ["gibberish", "random-looking"]
];
var NEARBY = 48;
var element = (id) => document.getElementById(id);
function liveCheck(load) {
  const input = element("address");
  const suggestion = element("suggestion");
  let ready;
  const prepare = () => {
    ready ??= start(load);
    return ready;
  };
  const update = () => prepare().then((checker) => showResult(checker, input.value), showFailure);
  const check = (address) => {
    input.value = address;
    return update();
  };
  input.addEventListener("focus", () => prepare().catch(showFailure));
  input.addEventListener("input", () => update());
  for (const button of element("examples").querySelectorAll("button")) {
    button.addEventListener("click", () => check(button.textContent));
  }
  suggestion.addEventListener("click", () => check(suggestion.value));
  showEmpty();
  element("live").hidden = false;
  input.disabled = false;
  if (input.value !== "" || document.activeElement === input) void update();
}
async function start(load) {
  const before = performance.now();
  const checker = await load();
  const took = Math.round(performance.now() - before);
  const { engine, lists, model } = checker.versions();
  element("module").textContent = `The module was ready after ${took} ms: engine ${engine}, lists ${lists}, model ${model}.`;
  return checker;
}
function showFailure(error) {
  const cause = error instanceof Error ? error.message : String(error);
  show("failed", "The check cannot run", `The module could not be loaded: ${cause}`);
}
function showEmpty() {
  show("empty", "Type an address", "It is checked in your browser as you type. Nothing is sent.");
  for (const id of ["section", "timing", "json"]) element(id).textContent = "";
  for (const id of ["suggestion", "position", "details"]) element(id).hidden = true;
  element("facts").replaceChildren();
}
function showResult(checker, email) {
  if (email === "") {
    showEmpty();
    return;
  }
  const before = performance.now();
  const facts = checker.check(email);
  const took = performance.now() - before;
  const refusal = facts.valid ? null : checker.explain(email).refusal;
  showVerdict(facts, refusal);
  showPosition(email, refusal);
  showSuggestion(facts, refusal, checker);
  const shown = Object.entries(facts).filter(([name]) => name !== "email" && name !== "valid");
  element("facts").replaceChildren(...facts.valid ? shown.map(row) : []);
  element("details").hidden = false;
  element("json").textContent = JSON.stringify(facts, null, 2);
  element("timing").textContent = `Checked in ${took < 0.1 ? "less than 0.1" : took.toFixed(1)} ms.`;
}
function showVerdict(facts, refusal) {
  const doubts = DOUBTS.filter(([name]) => facts[name]).map(([, words]) => words);
  element("section").textContent = refusal?.section ?? "";
  if (refusal !== null) {
    const { sentence } = refusal;
    show("invalid", "Not valid", `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
    return;
  }
  const kinds = [
    facts.role && `a role account (${facts.role})`,
    facts.relay && "a forwarding service",
    facts.public && "a public provider",
    facts.alias && "a plus tag"
  ].filter((kind) => typeof kind === "string");
  const notes = kinds.length === 0 ? "" : `Note: ${inWords(kinds)}.`;
  if (doubts.length > 0) show("doubtful", `Valid, but ${inWords(doubts)}`, notes);
  else show("valid", "Valid", notes || "Nothing else to note.");
}
function show(state, headline, reason) {
  element("verdict").dataset.state = state;
  element("headline").textContent = headline;
  element("reason").textContent = reason;
}
function inWords(list) {
  return list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
}
function showPosition(email, refusal) {
  const position = element("position");
  position.hidden = refusal === null;
  if (refusal === null) return;
  const bytes = new TextEncoder().encode(email).subarray(0, refusal.offset);
  const before = new TextDecoder().decode(bytes);
  const [character = " "] = email.slice(before.length);
  const after = email.slice(before.length + character.length);
  const mark = document.createElement("mark");
  const isSeen = character === " " || !/\p{C}|\p{Z}/u.test(character);
  const codePoint = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  mark.textContent = isSeen ? character : `U+${codePoint}`;
  position.replaceChildren(
    before.length > NEARBY ? `\u2026${before.slice(-NEARBY)}` : before,
    mark,
    after.length > NEARBY ? `${after.slice(0, NEARBY)}\u2026` : after
  );
}
function showSuggestion(facts, refusal, checker) {
  const suggestion = element("suggestion");
  const name = refusal?.suggestion ?? facts.typo_suggestion;
  suggestion.hidden = name === null;
  if (name === null) return;
  const { typo_suggestion } = checker.check(facts.email, { typoSuggestion: "address" });
  suggestion.value = typo_suggestion ?? name;
  suggestion.textContent = `Use ${name}`;
}
function row([name, value]) {
  const item = document.createElement("div");
  const term = document.createElement("dt");
  const detail = document.createElement("dd");
  term.textContent = name;
  const word = typeof value === "boolean" ? value ? "yes" : "no" : String(value ?? "none");
  detail.textContent = name === "mx" ? "not looked up here" : word;
  const isNotable = name === "relay" || DOUBTS.some(([doubt]) => doubt === name);
  detail.className = name === "mx" || !value ? "none" : isNotable ? "notable" : "";
  if (name === "normalized") item.className = "wide";
  item.append(term, detail);
  return item;
}
export {
  liveCheck
};
