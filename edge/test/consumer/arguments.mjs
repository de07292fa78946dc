// Passes what a caller can pass, right or wrong, in Node, Deno and Bun: arguments.mjs URL POLICIES
// The URL is that of a directory with addrspec.wasm, none.wasm (missing) and page.wasm (HTML);
// POLICIES is policies.jsonl of wasm/vectors.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import {
  check,
  checkMany,
  explain,
  load,
  PolicyRefused,
  setLists,
  verdict,
  verdictMany,
} from "addrspec";

const MIB = 1 << 20;
const SECRET = "jane.secret@example.org"; // no message may have it

/** Requires an error of this type from both the functions and a loaded checker. */
async function refuses(type, message, name, ...args) {
  const functions = { check, checkMany, explain, setLists, load, verdict, verdictMany };
  const { [name]: method } = await load();
  const calls = [async () => functions[name](...args)];
  if (method !== undefined) calls.push(async () => method(...args));
  for (const call of calls) {
    await assert.rejects(call, (error) => {
      if (type === Error) assert.ok(error instanceof type && !(error instanceof TypeError));
      else assert.equal(error.constructor, type, error.message);
      assert.equal(error.message, message);
      assert.ok(!error.message.includes(SECRET));
      return true;
    });
  }
}

async function wrongTypes() {
  const kinds = [
    [undefined, "undefined"],
    [null, "null"],
    [1, "a number"],
    [true, "a boolean"],
    [Symbol("s"), "a symbol"],
    [() => SECRET, "a function"],
    [[SECRET], "an array"],
    [{ constructor: { name: SECRET } }, "an object"],
    [new Proxy({}, {}), "an object"],
    [Object.create(null), "an object"],
    [new String(SECRET), "an object"],
    [new Uint16Array(1), "an object"],
  ];
  for (const [value, kind] of kinds) {
    const not = `must be a string or a Uint8Array, not ${kind}`;
    await refuses(TypeError, `email ${not}`, "check", value);
    await refuses(TypeError, `email ${not}`, "explain", value);
    await refuses(TypeError, `emails[1] ${not}`, "checkMany", [SECRET, value]);
    await refuses(TypeError, `blob must be a Uint8Array, not ${kind}`, "setLists", value);
  }
  for (const [value, kind] of [...kinds.slice(0, 6), kinds[7], [SECRET, "a string"]])
    await refuses(
      TypeError,
      `emails must be an array or another iterable of addresses, not ${kind}`,
      "checkMany",
      value,
    );
  await refuses(
    TypeError,
    "emails must be an array of addresses, not the bytes of one",
    "checkMany",
    new Uint8Array(3),
  );
}

async function wrongOptions() {
  const there = "there are typoSuggestion and details";
  for (const name of ["check", "checkMany"]) {
    const refuse = (message, options) =>
      refuses(TypeError, message, name, name === "check" ? SECRET : [SECRET], options);
    await refuse("options must be an object, not null", null);
    await refuse("options must be an object, not a string", SECRET);
    await refuse(`options.detail is not an option; ${there}`, { detail: true });
    await refuse(`options has a member that is not an option; ${there}`, { [SECRET]: true });
    await refuse('options.typoSuggestion must be "domain" or "address"', {
      typoSuggestion: SECRET,
    });
    await refuse("options.details must be a boolean, not a number", { details: 1 });
  }
}

/** The limit counts bytes of UTF-8. */
async function lengths() {
  const checker = await load();
  const long = (name) => `${name} is longer than 1 MiB, which is the longest address`;
  const fits = [
    "a".repeat(MIB),
    "é".repeat(MIB / 2),
    "\ud800".repeat(MIB / 3),
    new Uint8Array(MIB),
  ];
  for (const [n, facts] of checker.checkMany(fits).entries()) {
    assert.equal(facts.valid, false);
    assert.deepEqual(checker.check(fits[n]), facts);
  }
  const beyond = [
    "a".repeat(MIB + 1),
    `${"é".repeat(MIB / 2)}a`,
    "\ud800".repeat(MIB / 3 + 1),
    new Uint8Array(MIB + 1),
  ];
  for (const address of beyond) {
    await refuses(RangeError, long("email"), "check", address);
    await refuses(RangeError, long("email"), "explain", address);
    await refuses(RangeError, long("emails[2]"), "checkMany", ["a", "b", address]);
  }
  assert.equal(checker.check(SECRET).valid, true);
}

/** A list is any iterable; text, bytes and bytes of another realm give the same facts. */
async function lists() {
  const foreign = runInNewContext("new Uint8Array([106, 64, 101, 46, 111, 114, 103])");
  const forms = ["j@e.org", new TextEncoder().encode("j@e.org"), foreign];
  const facts = await checkMany(new Set(forms));
  assert.equal(facts.length, 3);
  for (const found of facts) assert.deepEqual(found, await check("j@e.org"));
  assert.deepEqual(await checkMany([]), []);
  assert.deepEqual(await checkMany([""]), [await check("")]);
  const [damaged] = await checkMany([Uint8Array.of(0xff, 0x40)]); // not UTF-8
  assert.equal(damaged.email, "\ufffd@");
  const many = await checkMany(Array.from({ length: 5000 }, (_, n) => `user${n}@example.org`));
  assert.ok(many.every(({ local_part }, n) => local_part === `user${n}`));
  assert.equal(many.length, 5000);
}

/** Every kind of source starts a checker of its own. */
async function sources(directory) {
  const file = new URL(import.meta.resolve("addrspec/addrspec.wasm"));
  const bytes = readFileSync(fileURLToPath(file));
  const response = (type) => new Response(bytes, { headers: { "Content-Type": type } });
  const list = [
    bytes,
    new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    Uint8Array.from(bytes).buffer,
    new WebAssembly.Module(bytes),
    response("application/wasm"),
    response("application/octet-stream"),
    file,
    new URL("addrspec.wasm", directory),
  ];
  const shared = await load();
  assert.equal(await load(), shared);
  for (const source of list) {
    const checker = await load(source);
    assert.notEqual(checker, shared);
    assert.deepEqual(checker.check(SECRET), shared.check(SECRET));
  }
}

async function wrongSources(directory) {
  const must = "source must be bytes, a Response, a WebAssembly.Module or a URL, not";
  await refuses(TypeError, `${must} null`, "load", null);
  await refuses(TypeError, `${must} a string`, "load", "https://static.example/addrspec.wasm");
  await refuses(TypeError, `${must} an object`, "load", {});
  const then =
    "in place of addrspec.wasm; copy node_modules/addrspec/lib/addrspec.wasm beside your script, or call load with a source";
  await refuses(
    Error,
    `the server sent status 404 ${then}`,
    "load",
    new URL("none.wasm", directory),
  );
  await refuses(Error, `the server sent a page ${then}`, "load", new URL("page.wasm", directory));
  await assert.rejects(load(new Uint8Array(8)), WebAssembly.CompileError);
  await assert.rejects(load(new URL("none.wasm", import.meta.url)));
}

/** Every case of the vectors, with the policy as a text and as an object. */
async function policies(file) {
  const cases = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(cases.length > 80);
  for (const { policy, error, email, verdict: want, ...at } of cases) {
    const { mx, address, disposable, exchanges, ...place } = at;
    if (error) {
      await refuses(PolicyRefused, error, "verdict", SECRET, policy, undefined);
      await refuses(PolicyRefused, error, "verdictMany", [], policy);
      const refused = await verdict("", policy).catch((thrown) => thrown);
      assert.equal(refused.name, "PolicyRefused");
      assert.deepEqual({ place: refused.place, offset: refused.offset }, place);
      continue;
    }
    const found = { mx, addressRecord: address, disposable, exchanges };
    for (const form of [policy, JSON.parse(policy)])
      assert.deepEqual(await verdict(email, form, found), want, policy);
    if (mx === null && address === null && !disposable && exchanges === undefined) {
      assert.deepEqual(await verdict(email, policy), want);
      assert.deepEqual(await verdictMany([email, email], policy), [want, want]);
    }
  }
}

async function wrongPolicies() {
  for (const [value, kind] of [
    [undefined, "undefined"],
    [null, "null"],
    [7, "a number"],
    [[], "an array"],
  ])
    await refuses(
      TypeError,
      `policy must be an object or its JSON text, not ${kind}`,
      "verdict",
      SECRET,
      value,
    );
  const wrong = (message, found) => refuses(TypeError, message, "verdict", SECRET, "{}", found);
  await wrong("found must be an object, not a boolean", true);
  await wrong("found.mx must be a boolean or null, not a number", { mx: 1 });
  await wrong("found has another member than mx, addressRecord, disposable and exchanges", {
    [SECRET]: 1,
  });
  await wrong("found.exchanges must be an array of strings or null, not a string", {
    exchanges: SECRET,
  });
  await wrong("found.exchanges must be an array of strings or null, not an array", {
    exchanges: [SECRET, 1],
  });
  const many = { exchanges: Array(9000).fill("mx.example") };
  await refuses(RangeError, "found.exchanges is longer than 64 KiB", "verdict", SECRET, "{}", many);
  await refuses(
    TypeError,
    "email must be a string or a Uint8Array, not null",
    "verdict",
    null,
    "{}",
  );
}

await wrongTypes();
await wrongOptions();
await lengths();
await lists();
await sources(argv[2]);
await wrongSources(argv[2]);
await policies(argv[3]);
await wrongPolicies();
console.log("ok");
