// Uses the package in Node, Deno and Bun.

import { answer } from "./answer.mjs";

console.log(JSON.stringify(await answer()));
