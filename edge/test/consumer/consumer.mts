// Uses the package's types.

import { check, type Details, explain, type Facts, load, type Refusal, setLists } from "addrspec";
import { type SignedLists, updateLists, verifyLists } from "addrspec/lists";

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
const form: readonly ("quoted" | "unknown_tld" | string)[] = details.form;
const host: string | null | undefined = details.exchange?.host;
const score: number = (await load()).check("x").gibberish_score;
// @ts-expect-error: no details were asked for
facts.details;
// @ts-expect-error: there is no other suggestion
await check("x", { typoSuggestion: "both" });
// @ts-expect-error: facts are read-only
facts.valid = true;

const blob = new Uint8Array(1);
await setLists(blob);
(await load()).setLists(blob);
const verified: SignedLists = await verifyLists(blob, "signature", "key");
const url = new URL("https://lists.example.org");
const updated: boolean = (await updateLists(await load(), { url, key: "RW" })).updated;
// @ts-expect-error: there are no lists without a key
await updateLists(await load(), { url });

export { details, form, host, refusal, role, score, updated, verified };
