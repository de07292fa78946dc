// Bundles the programs of edge/ with MODULE, an addrspec.wasm that build.sh made:
//
//   node build.mjs workers MODULE FOLDER    the worker for each platform
//   node build.mjs package MODULE FOLDER    the files of the npm package
//   node build.mjs demo    MODULE FILE      the demo, one page that opens from disk
//   node build.mjs script  MODULE FILE      the script of origin/dashboard, which fetches its module

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const edge = import.meta.dirname;
const options = {
  bundle: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: ["node:*", "*.wasm"],
  logLevel: "warning",
};

const commands = {
  async workers(wasm, folder) {
    await bundle("entry", ["cloudflare", "deno", "node"], folder);
    copyFileSync(wasm, join(folder, "addrspec.wasm"));
    for (const config of ["workerd.capnp", "wrangler.jsonc", "deno.json"]) {
      copyFileSync(join(edge, config), join(folder, config));
    }
    writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  },

  async package(wasm, folder) {
    await bundle("package", ["node", "browser", "workerd"], folder);
    copyFileSync(wasm, join(folder, "addrspec.wasm"));
    copyFileSync(join(edge, "package/index.d.ts"), join(folder, "index.d.ts"));
    copyFileSync(join(edge, "../LICENSE"), join(folder, "LICENSE"));
  },

  async demo(wasm, file) {
    const script = await build({
      ...options,
      entryPoints: [join(edge, "demo/demo.ts")],
      write: false,
      minify: true,
    });
    const page = readFileSync(join(edge, "demo/index.html"), "utf8")
      .replace("/* style */", () => readFileSync(join(edge, "demo/demo.css"), "utf8"))
      .replace("/* module */", () => gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"))
      .replace("/* script */", () =>
        script.outputFiles[0].text.replaceAll("</script", "<\\/script"),
      );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page);
  },

  async script(_, file) {
    await build({
      ...options,
      entryPoints: [join(edge, "package/dashboard.ts")],
      outfile: resolve(file),
      absWorkingDir: edge, // paths in comments are the same wherever this runs
      banner: {
        js: "// Made from edge/package/dashboard.ts: node edge/build.mjs script - FILE\n// @ts-nocheck",
      },
    });
  },
};

async function bundle(from, entries, outdir) {
  mkdirSync(outdir, { recursive: true });
  await build({
    ...options,
    entryPoints: entries.map((entry) => join(edge, from, `${entry}.ts`)),
    outdir,
  });
}

const [command, module, target] = process.argv.slice(2);
if (!target || !Object.hasOwn(commands, command)) {
  console.error("usage: node build.mjs workers|package|demo|script MODULE TARGET");
  process.exit(2);
}
await commands[command](module, target);
