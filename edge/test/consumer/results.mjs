// The calls that every consumer makes. The tests write addresses.mjs.

import { check, checkMany, explain } from "addrspec";
import addresses from "./addresses.mjs";

export async function results() {
  const start = performance.now();
  const facts = await check("jane@gmial.com");
  const FirstMS = performance.now() - start;
  const full = await check("jane@gmial.com", { typoSuggestion: "address" });
  const { refusal } = await explain("jane.@example.org");
  const { details } = await check("jane.@example.org", { details: true });
  const same = JSON.stringify(details.refusal) === JSON.stringify(refusal);
  const Golden = lines(await checkMany(addresses));
  return {
    Facts: facts,
    Full: full.typo_suggestion,
    Code: same ? refusal.code : "",
    Golden,
    FirstMS,
  };
}

function lines(list) {
  return list.map((facts) => `${JSON.stringify(facts)}\n`).join("");
}
