// Uses the package's types from CommonJS.

import { type Facts, load, type Policy } from "addrspec";
import { check } from "addrspec/bundled";
import { AddrspecEmail } from "addrspec/element";
import { updateLists } from "addrspec/lists";
import { emailSchema } from "addrspec/schema";

export const policy: Policy = { block: { reasons: ["disposable"] } };
export const facts: Promise<Facts> = check("jane@example.org");
export const schema = load().then((checker) => emailSchema({ checker, policy }));
export const elements: (typeof AddrspecEmail)[] = [AddrspecEmail];
export const update: typeof updateLists = updateLists;
