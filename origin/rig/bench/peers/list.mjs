// node list.mjs RESOLVER FILE checks the addresses of a file: syntax, and MX of 64 domains at a time.
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import validator from "validator";

const [server, file] = process.argv.slice(2);
const resolver = new Resolver();
resolver.setServers([server]);
const emails = readFileSync(file, "utf8").trim().split("\n");
const domainOf = (email) => email.slice(email.lastIndexOf("@") + 1);
const valid = emails.map((email) => validator.isEmail(email));
const domains = new Set(emails.filter((_, n) => valid[n]).map(domainOf));
const known = new Map(); // whether domains have MX records

async function lookupAll(waiting) {
  for (const domain of waiting) {
    try {
      known.set(domain, (await resolver.resolveMx(domain)).length > 0);
    } catch (error) {
      if (error.code !== "ENOTFOUND" && error.code !== "ENODATA") throw error;
      known.set(domain, false);
    }
  }
}

const waiting = domains.values(); // which all of them take from
await Promise.all(Array.from({ length: 64 }, () => lookupAll(waiting)));
for (const [n, email] of emails.entries()) {
  const result = { email, valid: valid[n], mx: known.get(domainOf(email)) ?? false };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
