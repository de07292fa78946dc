// The calls that every consumer makes.

import { check, explain } from "addrspec";

export async function answer() {
  const start = performance.now();
  const facts = await check("jane@gmial.com");
  const FirstMS = performance.now() - start;
  const full = await check("jane@gmial.com", { typoSuggestion: "address" });
  const refusal = await explain("jane.@example.org");
  return { Facts: facts, Full: full.typo_suggestion, Code: refusal.code, FirstMS };
}
