// Uses the package in Node, Deno and Bun: consumer.mjs [FEED KEY]

import { argv } from "node:process";
import { results } from "./results.mjs";
import { update } from "./update.mjs";

const [, , url, key] = argv;
console.log(JSON.stringify(await (url === undefined ? results() : update(url, key))));
