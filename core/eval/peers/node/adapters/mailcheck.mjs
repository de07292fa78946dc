// mailcheck with its default domains, second-level and top-level domains.
import { createRequire } from "node:module";

const mailcheck = createRequire(import.meta.url)("mailcheck");

export const typo = (domain) => ({ text: mailcheck.run({ email: `someone@${domain}` })?.domain ?? "" });
