/**
 * Signs requests with the library standardwebhooks, for tests: reads lines of JSON
 * {secret, id, at, body} and prints the signature of each.
 */
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, id, at, body } = JSON.parse(line);
  console.log(new Webhook(secret).sign(id, new Date(at * 1000), body));
}
