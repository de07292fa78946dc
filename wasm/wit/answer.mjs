// Runs a component in Node, through jco, and answers questions about it:
//
//     node answer.mjs addrspec.component.wasm FOLDER
//
// reads from standard input one JSON value a line, [address, suggestion] to
// check or {"lists": base64} to replace the lists, and prints what the
// component says to each as a line of JSON. FOLDER is for the JavaScript that
// jco makes of the component.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { transpileBytes } from "@bytecodealliance/jco-transpile";

const [component, folder] = process.argv.slice(2);
const { files, imports } = await transpileBytes(await readFile(component), {
  name: "addrspec",
  instantiation: "async",
});
if (imports.length > 0) throw new Error(`the component imports ${imports}`);
for (const [name, octets] of Object.entries(files)) {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), octets);
}
const { instantiate } = await import(pathToFileURL(join(folder, "addrspec.js")));
const load = async (name) => WebAssembly.compile(await readFile(join(folder, name)));
const { checks } = await instantiate(load, {});

const attempt = (call) => {
  try {
    return { ok: call() ?? null };
  } catch (error) {
    return { error: error.payload ?? String(error) };
  }
};
for await (const line of createInterface({ input: process.stdin, crlfDelay: 0 })) {
  const question = JSON.parse(line);
  const answer = Array.isArray(question)
    ? attempt(() => checks.check(...question))
    : attempt(() => checks.replaceLists(Buffer.from(question.lists, "base64")));
  console.log(JSON.stringify(answer));
}
