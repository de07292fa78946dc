// Makes a component from a core module with the exports of addrspec.wit:
//
//     node component.mjs core.wasm addrspec.component.wasm
//
// `npm install` in this directory installs the tools.
import { readFile, writeFile } from "node:fs/promises";
import { componentEmbed, componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";

const [core, component] = process.argv.slice(2);
const witSource = await readFile(new URL("addrspec.wit", import.meta.url), "utf8");
const binary = await readFile(core);
const described = await componentEmbed({ binary, witSource, world: "checker" });
await writeFile(component, await componentNew(described));
