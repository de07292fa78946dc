// Bundles the programs of edge/ with MODULE, an addrspec.wasm that build.sh made:
//
//   node build.mjs workers MODULE DIRECTORY    the worker for each platform
//   node build.mjs package MODULE DIRECTORY    the files of the npm package
//   node build.mjs demo    MODULE FILE      the demo, one page that opens from disk
//   node build.mjs script  MODULE FILE      the script of origin/dashboard, which fetches its module
//   node build.mjs livecheck MODULE DIRECTORY  the live check of origin/dashboard: livecheck.js and .css

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const edge = import.meta.dirname;
const text = (file) => readFileSync(join(edge, file), "utf8");

const bundle = (entries, more) =>
  build({
    bundle: true,
    format: "esm",
    target: "es2022",
    supported: { "import-attributes": true },
    platform: "neutral",
    external: ["node:*", "*.wasm", "*.wasm?module", "addrspec"],
    loader: { ".css": "text" },
    logLevel: "warning",
    entryPoints: entries.map((entry) => join(edge, entry)),
    ...more,
  });

const commands = {
  async workers(wasm, directory) {
    const entries = ["cloudflare", "deno", "node"].map((name) => `entry/${name}.ts`);
    await bundle(entries, { outdir: directory });
    copyFileSync(wasm, join(directory, "addrspec.wasm"));
    for (const config of ["workerd.capnp", "wrangler.jsonc", "deno.json"]) {
      copyFileSync(join(edge, config), join(directory, config));
    }
    await compileConfig(join(directory, "workerd.capnp"), join(directory, "workerd.bin"));
    copyLicense(directory);
    writePackage(directory);
    for (const platform of Object.keys(platforms)) {
      await platforms[platform](wasm, join(directory, platform));
      copyLicense(join(directory, platform));
    }
  },

  async package(wasm, directory) {
    const required = ["node", "lists", "schema", "element", "client"].map(
      (name) => `package/${name}.ts`,
    );
    const imported = ["browser", "workerd", "edge-light", "bundled"].map(
      (name) => `package/${name}.ts`,
    );
    await bundle([...required, ...imported], { outdir: directory, plugins: [separate("js")] });
    await bundle(required, {
      outdir: directory,
      outExtension: { ".js": ".cjs" },
      plugins: [separate("cjs")],
      ...commonJS,
    });
    copyFileSync(wasm, join(directory, "addrspec.wasm"));
    for (const [from, to] of [
      ["index", "index"],
      ["signed-lists", "lists"],
      ["email-schema", "schema"],
      ["email-element", "element"],
      ["api-client", "client"],
    ]) {
      const types = text(`package/${from}.d.ts`);
      writeFileSync(join(directory, `${to}.d.ts`), types);
      writeFileSync(
        join(directory, `${to}.d.cts`),
        types.replace(/"(\.\/\w+)\.[jt]s"/g, '"$1.cjs"'),
      );
    }
    copyLicense(directory);
  },

  async demo(wasm, file) {
    const script = await bundle(["demo/demo.ts"], { write: false, minify: true });
    const code = script.outputFiles[0].text.replaceAll("</script", "<\\/script");
    const page = text("demo/index.html")
      .replace("/* style */", () => `${text("demo/demo.css")}\n${text("demo/livecheck.css")}`)
      .replace("/* module */", () => gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"))
      .replace("/* script */", () => code);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page);
  },

  script: (_, file) => bundleForDashboard("package/dashboard.ts", file, "script - FILE"),

  async livecheck(_, directory) {
    const file = join(directory, "livecheck.js");
    await bundleForDashboard("demo/livecheck.ts", file, "livecheck - DIRECTORY");
    copyFileSync(join(edge, "demo/livecheck.css"), join(directory, "livecheck.css"));
  },
};

/** The platforms that deploy a directory of their own form; platforms/ has a page for each. */
const platforms = {
  "vercel-edge": (wasm, directory) => vercel("edge", wasm, directory),
  "vercel-node": (wasm, directory) => vercel("nodejs", wasm, directory),

  async netlify(wasm, directory) {
    const outfile = join(directory, "netlify/edge-functions/addrspec.js");
    await bundle(["entry/netlify.ts"], { outfile, plugins: [compressed(wasm)] });
    copyFileSync(join(edge, "platforms/netlify.toml"), join(directory, "netlify.toml"));
    mkdirSync(join(directory, "public"), { recursive: true });
  },

  async lambda(wasm, directory) {
    await bundle(["entry/lambda.ts"], { outfile: join(directory, "index.mjs") });
    copyFileSync(wasm, join(directory, "addrspec.wasm"));
  },
};

/** Vercel reads the runtime from the text of the file, in this form only. */
async function vercel(runtime, wasm, directory) {
  const footer = { js: `export const config = { runtime: "${runtime}" };` };
  const outfile = join(directory, "middleware.js");
  await bundle([`entry/${basename(directory)}.ts`], { outfile, footer });
  copyFileSync(wasm, join(directory, "addrspec.wasm"));
  writePackage(directory);
}

/** Returns a plugin that makes the module a part of the code, by *.wasm?gzip. */
function compressed(wasm) {
  return {
    name: "compressed",
    setup(bundler) {
      bundler.onResolve({ filter: /\.wasm\?gzip$/ }, ({ path }) => ({ path, namespace: "gzip" }));
      bundler.onLoad({ filter: /./, namespace: "gzip" }, () => ({
        contents: gzipSync(readFileSync(wasm), { level: 9 }),
        loader: "binary",
      }));
    },
  };
}

/** Leaves what a file imports when it needs it in a file of its own, which is Node's if it is CommonJS. */
const separate = (extension) => ({
  name: "separate",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/\w+\.ts$/ }, ({ path, kind }) => {
      if (kind !== "dynamic-import") return undefined;
      const file = extension === "cjs" ? path.replace("browser", "node") : path;
      return { path: file.replace(/ts$/, extension), external: true };
    });
  },
});

/**
 * What require() gets, such as that of Jest: jsdom has no encoders, and without a flag Jest imports
 * nothing dynamically.
 */
const commonJS = {
  format: "cjs",
  supported: { "dynamic-import": false },
  define: { "import.meta.url": "here" },
  banner: {
    js: 'const { TextDecoder, TextEncoder } = require("node:util");\nconst here = require("node:url").pathToFileURL(__filename);',
  },
};

/** Bundles a file that the origin embeds, which is committed because the origin is built without Node. */
async function bundleForDashboard(entry, file, usage) {
  await bundle([entry], {
    outfile: resolve(file),
    absWorkingDir: edge, // paths in comments are the same wherever this runs
    banner: { js: `// Made from edge/${entry}: node edge/build.mjs ${usage}\n// @ts-nocheck` },
  });
}

/**
 * Writes workerd's configuration, with the bundle and the module inside, in the form in
 * which workerd has it in memory. To read the text instead takes 12 of the 54 ms of
 * processor time until the first response. workerd does not exist for every machine.
 */
async function compileConfig(config, file) {
  try {
    const { default: workerd } = await import("workerd");
    const args = ["compile", "--config-only", config];
    writeFileSync(file, execFileSync(workerd.default, args, { maxBuffer: 64 << 20 }));
  } catch (error) {
    console.error(`skipped: ${file}: ${error.message}`);
  }
}

/** Copies the licence of what is bundled with our code. */
function copyLicense(directory) {
  const license = join(edge, "node_modules/@noble/hashes/LICENSE");
  copyFileSync(license, join(directory, "LICENSE-noble-hashes"));
}

function writePackage(directory) {
  writeFileSync(join(directory, "package.json"), '{ "type": "module", "private": true }\n');
}

const [command, module, target] = process.argv.slice(2);
if (!target || !Object.hasOwn(commands, command)) {
  console.error("usage: node build.mjs workers|package|demo|script|livecheck MODULE TARGET");
  process.exit(2);
}
await commands[command](module, target);
