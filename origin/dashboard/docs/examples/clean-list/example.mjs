import { readFile } from "node:fs/promises";
import { Client } from "addrspec/client";

/** What to do with an address. */
function advice({ result }) {
  if (result === null) return "check again";
  if (!result.valid) return "remove";
  if (result.typo_suggestion) return "ask";
  if (result.disposable || result.gibberish) return "doubt";
  if (!result.mx) return "confirm"; // mail may still go to its address record
  return "keep";
}

const lines = (await readFile("addresses.txt", "utf8")).split(/\r?\n/);
const addresses = [...new Set(lines.map((line) => line.trim()).filter(Boolean))];

const client = new Client("http://127.0.0.1:8080", process.env.ADDRSPEC_KEY);
for await (const item of client.checkMany(addresses)) {
  const quoted = item.email.replaceAll('"', '""');
  console.log(`${/[",\s]/.test(item.email) ? `"${quoted}"` : item.email},${advice(item)}`);
}
