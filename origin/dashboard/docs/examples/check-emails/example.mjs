import { Client } from "addrspec/client";

const client = new Client("http://127.0.0.1:8080", process.env.ADDRSPEC_KEY);
const emails = ["jane@example.org", "info@hotmial.com"]; // any number

for await (const { email, result, error } of client.checkMany(emails)) {
  if (error) console.log(email, error.code);
  else console.log(email, "valid:", result.valid, "typo:", result.typo);
}
console.log("points:", (await client.usage()).points.used);
