// Makes a component of a core module that exports what addrspec.wit asks for:
//
//     node component.mjs core.wasm addrspec.component.wasm
//
// `npm install` in this folder brings the tools.
import { readFile, writeFile } from "node:fs/promises";
import { componentEmbed, componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";

const [core, component] = process.argv.slice(2);
const witSource = await readFile(new URL("addrspec.wit", import.meta.url), "utf8");
const described = await componentEmbed({
  binary: await readFile(core),
  witSource,
  world: "checker",
});
await writeFile(component, await componentNew(described));
