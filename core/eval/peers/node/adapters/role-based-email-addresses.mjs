// role-based-email-addresses: a list of local parts in four groups.
import { createRequire } from "node:module";

const groups = createRequire(import.meta.url)("role-based-email-addresses");
const list = new Set(Object.values(groups).flat());

export const role = (name) => ({ yes: list.has(name.toLowerCase()) });
