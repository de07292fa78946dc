// validator.js. Options: those that come closest to RFC 5321, which has address
// literals and domains of one label; the defaults refuse both.
import validator from "validator";

const options = { require_tld: false, allow_ip_domain: true, allow_underscores: false };

export const valid = (email) => ({ yes: validator.isEmail(email, options) });
// Its rules for Gmail, Outlook, Yahoo, iCloud and Yandex, with the defaults.
export const canonical = (email) => ({ text: validator.normalizeEmail(email) || "" });
