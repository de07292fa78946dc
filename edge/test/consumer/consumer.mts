// Uses the package's types.

import { check, type Details, explain, type Facts, load, type Refusal } from "addrspec";

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
const refusal: Refusal | null = (await explain(facts.email)).refusal;
const details: Details = (await check(facts.email, { details: true })).details;
const score: number = (await load()).check("x").gibberish_score;
// @ts-expect-error: no details were asked for
facts.details;
// @ts-expect-error: there is no other suggestion
await check("x", { typoSuggestion: "both" });
// @ts-expect-error: facts are read-only
facts.valid = true;

export { details, refusal, role, score };
