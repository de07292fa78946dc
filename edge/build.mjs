// Bundles the worker for each platform into a folder, with the module beside it:
//
//   node build.mjs MODULE FOLDER
//
// MODULE is the addrspec.wasm that go run ./wasm/dist made.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [module, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node build.mjs MODULE FOLDER");
  process.exit(2);
}
const here = import.meta.dirname;
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: ["cloudflare", "deno", "node"].map((entry) => join(here, "entry", `${entry}.ts`)),
  outdir: folder,
  bundle: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: ["node:*", "*.wasm"],
  logLevel: "warning",
});
copyFileSync(module, join(folder, "addrspec.wasm"));
copyFileSync(join(here, "workerd.capnp"), join(folder, "workerd.capnp"));
writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
