// Uses the package in Node, Deno and Bun: consumer.mjs [schema | FEED KEY]

import { argv } from "node:process";
import { work } from "./work.mjs";

console.log(JSON.stringify(await work(...argv.slice(2))));
