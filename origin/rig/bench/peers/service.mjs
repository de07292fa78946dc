// node service.mjs RESOLVER DATABASE KEY serves GET /v1/email/ADDRESS: syntax, MX and a charge.
// It is what one would write in an afternoon. It prints its address once it serves.
import { Resolver } from "node:dns/promises";
import express from "express";
import Database from "libsql";
import validator from "validator";

const [server, file, firstKey] = process.argv.slice(2);
const resolver = new Resolver();
resolver.setServers([server]);
const database = new Database(file);
database.exec("PRAGMA journal_mode = WAL");
database.exec("PRAGMA synchronous = NORMAL"); // a charge does not wait for the disk
database.exec("CREATE TABLE accounts (key TEXT PRIMARY KEY, points INTEGER NOT NULL)");
database.prepare("INSERT INTO accounts VALUES (?, 1000000000)").run(firstKey);
const account = database.prepare("SELECT points FROM accounts WHERE key = ?");
const charge = database.prepare("UPDATE accounts SET points = points - 1 WHERE key = ? AND points > 0");
const known = new Map(); // of domains: whether they have MX records, and until when

async function hasMX(domain) {
  const cached = known.get(domain);
  if (cached?.until > Date.now()) return cached.found;
  let found = false;
  try {
    found = (await resolver.resolveMx(domain)).length > 0;
  } catch (error) {
    if (error.code !== "ENOTFOUND" && error.code !== "ENODATA") throw error;
  }
  known.set(domain, { found, until: Date.now() + 300_000 }); // Node does not say the TTL
  return found;
}

const app = express();
app.get("/v1/email/:email", async (request, response) => {
  const { email } = request.params;
  const key = request.get("X-API-Key") ?? "";
  if (!account.get(key)) return response.status(401).json({ error: "The key is not known." });
  if (!validator.isEmail(email)) return response.status(400).json({ error: "The address is not valid." });
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  const mx = await hasMX(domain);
  if (charge.run(key).changes === 0) return response.status(402).json({ error: "No points are left." });
  response.json({ email, domain, mx });
});
const listener = app.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${listener.address().port}`));
