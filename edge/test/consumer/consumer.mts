// Uses the package's types.

import { check, explain, type Facts, load, type Refusal } from "addrspec";

const facts: Facts = await check("jane@example.org", { typoSuggestion: "address" });
const role:
  | "Admin"
  | "Support"
  | "Sales"
  | "Marketing"
  | "General"
  | "NoReply"
  | "Billing"
  | "Legal"
  | "IT"
  | "HR"
  | null = facts.role;
const refusal: Refusal | null = await explain(facts.email);
const score: number = (await load()).check("x").gibberish_score;
// @ts-expect-error: there is no other suggestion
await check("x", { typoSuggestion: "both" });
// @ts-expect-error: facts are read-only
facts.valid = true;

export { refusal, role, score };
