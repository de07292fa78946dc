// Runs a component in Node with jco:
//
//     node run.mjs addrspec.component.wasm DIRECTORY
//
// It reads one JSON value per line from standard input, [address, suggestion] for
// a check, [address, suggestion, "explain"] for one with details,
// {"exchanges": names, "addressRecord": boolean} for exchanges,
// {"slot": number, "policy": document} to load a policy,
// {"slot": number, "email": address, "found": flags} for a verdict, or
// {"lists": base64} to replace the lists, and prints what the component returns as
// one line of JSON. jco writes the JavaScript for the component to
// DIRECTORY.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { transpileBytes } from "@bytecodealliance/jco-transpile";

const [component, directory] = process.argv.slice(2);
const options = { name: "addrspec", instantiation: "async" };
const { files, imports } = await transpileBytes(await readFile(component), options);
if (imports.length > 0) throw new Error(`the component imports ${imports}`);
for (const [name, bytes] of Object.entries(files)) {
  await mkdir(dirname(join(directory, name)), { recursive: true });
  await writeFile(join(directory, name), bytes);
}
const { instantiate } = await import(pathToFileURL(join(directory, "addrspec.js")));
const load = async (name) => WebAssembly.compile(await readFile(join(directory, name)));
const { checks } = await instantiate(load, {});

const other = ({ exchanges, addressRecord, slot, policy, email, found, lists }) => {
  if (exchanges !== undefined) return checks.exchanges(exchanges, addressRecord);
  if (policy !== undefined) return checks.loadPolicy(slot, policy);
  if (email !== undefined) return checks.decide(slot, email, found);
  return checks.replaceLists(Buffer.from(lists, "base64"));
};
const attempt = (call) => {
  try {
    return { ok: call() ?? null };
  } catch (error) {
    return { error: error instanceof Error ? String(error) : error }; // jco throws the value of an error
  }
};
for await (const line of createInterface({ input: process.stdin, crlfDelay: 0 })) {
  const request = JSON.parse(line);
  const response = Array.isArray(request)
    ? attempt(() => checks[request[2] ?? "check"](request[0], request[1]))
    : attempt(() => other(request));
  console.log(JSON.stringify(response));
}
