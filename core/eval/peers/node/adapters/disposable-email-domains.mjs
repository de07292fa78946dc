// disposable-email-domains of npm: index has domains, wildcard has domains whose
// subdomains count too.
import { createRequire } from "node:module";
import { parents } from "../parents.mjs";

const require = createRequire(import.meta.url);
const index = new Set(require("disposable-email-domains"));
const wildcard = new Set(require("disposable-email-domains/wildcard.json"));

export const disposable = (domain) => ({
	yes: index.has(domain) || parents(domain).some((name) => wildcard.has(name)),
});
