/** Prints the digests in Node, Deno and Bun: node.js MODULE ADDRESSES */

import { readFileSync } from "node:fs";
import { argv } from "node:process";

import { Engine } from "../../src/engine.ts";
import { digests } from "../digest.ts";

const [module = "", addresses = ""] = argv.slice(2);
const engine = new Engine(new WebAssembly.Module(readFileSync(module)));
console.log(JSON.stringify(await digests(engine, readFileSync(addresses))));
