// free-email-domains: a list of domains, without subdomains.
import { createRequire } from "node:module";

const list = new Set(createRequire(import.meta.url)("free-email-domains"));

// The name of the question is a reserved word in strict code.
const isPublic = (domain) => ({ yes: list.has(domain) });
export { isPublic as public };
