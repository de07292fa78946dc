import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Sends one batch. While the rate is exceeded or the service is busy, it waits
 * and sends the same batch with the same Idempotency-Key.
 */
async function check(emails) {
  const request = {
    method: "POST",
    headers: {
      "X-API-Key": process.env.ADDRSPEC_KEY,
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    },
    body: JSON.stringify({ emails }),
  };
  for (let attempt = 0; attempt < 10; attempt++) {
    const response = await fetch("http://127.0.0.1:8080/v1/emails", request);
    if (response.ok) return (await response.json()).results;
    const problem = await response.text();
    if (![429, 503].includes(response.status)) throw new Error(`${response.status}: ${problem}`);
    await sleep(1000 * Number(response.headers.get("Retry-After") ?? 1));
  }
  throw new Error("no response after 10 attempts");
}

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

for (let start = 0; start < addresses.length; start += 64) {
  for (const item of await check(addresses.slice(start, start + 64))) {
    const quoted = item.email.replaceAll('"', '""');
    console.log(`${/[",\s]/.test(item.email) ? `"${quoted}"` : item.email},${advice(item)}`);
  }
}
