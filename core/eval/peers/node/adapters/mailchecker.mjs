// MailChecker's list with its own lookup: a domain and its parents. isValid also
// checks the syntax, which the row's local part passes.
import { createRequire } from "node:module";

const mailchecker = createRequire(import.meta.url)("mailchecker");

export const disposable = (domain) => ({ yes: !mailchecker.isValid(`someone@${domain}`) });
