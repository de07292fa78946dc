// @zootools/email-spell-checker with its default domains.
import { createRequire } from "node:module";

const checker = createRequire(import.meta.url)("@zootools/email-spell-checker");

export const typo = (domain) => ({ text: checker.run({ email: `someone@${domain}` })?.domain ?? "" });
