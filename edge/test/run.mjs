// Runs the unit tests of src/ in Node's test runner:
//
//   node test/run.mjs MODULE
//
// MODULE is an addrspec.wasm built from the same sources.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const module = resolve(process.argv[2] ?? "../dist/addrspec.wasm");
const edge = resolve(import.meta.dirname, "..");
const tests = readdirSync(join(edge, "src")).filter((name) => name.endsWith(".test.ts"));
const outdir = mkdtempSync(join(tmpdir(), "addrspec-edge-"));
try {
  await build({
    entryPoints: tests.map((name) => join(edge, "src", name)),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const files = tests.map((name) => join(outdir, name.replace(/ts$/, "mjs")));
  const env = {
    ...process.env,
    ADDRSPEC_MODULE: module,
    ADDRSPEC_VECTORS: resolve(edge, "../wasm/vectors"),
  };
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
    env,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(outdir, { recursive: true });
}
