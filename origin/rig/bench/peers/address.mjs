// node address.mjs MILLISECONDS FILE NAME... does what address.py does.
import { readFileSync } from "node:fs";
import { load } from "addrspec";
import mailcheck from "mailcheck";
import mailchecker from "mailchecker";
import validator from "validator";

const checker = await load();
const functions = {
  addrspec: (email) => checker.check(email),
  isEmail: (email) => validator.isEmail(email),
  // Three of our facts: syntax, disposable, and a misspelled provider.
  three: (email) => [validator.isEmail(email), mailchecker.isValid(email), mailcheck.run({ email })],
};

const [milliseconds, file, ...names] = process.argv.slice(2);
const emails = readFileSync(file, "utf8").trim().split("\n");

/** Runs the functions in turn for a while and returns the microseconds of an address by each. */
function measure() {
  const used = names.map(() => 0);
  let rounds = 0;
  for (const until = performance.now() + milliseconds * names.length; performance.now() < until; rounds += 10) {
    for (const [n, name] of names.entries()) {
      const before = process.cpuUsage();
      for (let round = 0; round < 10; round++) for (const email of emails) functions[name](email);
      const { user, system } = process.cpuUsage(before);
      used[n] += user + system;
    }
  }
  return used.map((total) => total / rounds / emails.length);
}

measure(); // until V8 has optimized them
for (const [n, us] of measure().entries()) console.log(JSON.stringify({ name: names[n], us }));
