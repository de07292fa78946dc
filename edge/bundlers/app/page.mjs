// The page that every bundler builds: checks the addresses of addresses.json.

import { checkMany } from "addrspec";

const response = await fetch("/addresses.json");
const facts = await checkMany(await response.json());
globalThis.results = facts.map((result) => `${JSON.stringify(result)}\n`).join("");
