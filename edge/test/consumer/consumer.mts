// Uses the package's types.

import {
  check,
  type Details,
  explain,
  type Facts,
  load,
  type Policy,
  PolicyRefused,
  type Refusal,
  setLists,
  type Verdict,
  verdict,
} from "addrspec";
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

const policy: Policy = { allow: { domains: ["a.example"] }, block: { reasons: ["disposable"] } };
const decided: Verdict = await verdict(facts.email, policy, { mx: true, addressRecord: null });
const many: Verdict[] = (await load()).verdictMany([facts.email], "{}");
const refused = await verdict("x", "7").catch((error: unknown) => error);
const [place, offset]: [string?, number?] =
  refused instanceof PolicyRefused ? [refused.place, refused.offset] : [];
// @ts-expect-error: allow has no reasons
await verdict("x", { allow: { reasons: ["role"] } });

const blob = new Uint8Array(1);
await setLists(blob);
(await load()).setLists(blob);
const verified: SignedLists = await verifyLists(blob, "signature", "key");
const url = new URL("https://lists.example.org");
const updated: boolean = (await updateLists(await load(), { url, key: "RW" })).updated;
// @ts-expect-error: there are no lists without a key
await updateLists(await load(), { url });

export {
  decided,
  details,
  form,
  host,
  many,
  offset,
  place,
  refusal,
  role,
  score,
  updated,
  verified,
};
