// What Jest, which has require() only, runs in its environments node and jsdom. The tests write
// public/addresses.json and results.txt.

const { readFileSync } = require("node:fs");
const { check, checkMany, load, PolicyRefused, verdict } = require("addrspec");
const { AddrspecEmail } = require("addrspec/element");
const { ListsError, verifyLists } = require("addrspec/lists");
const { emailSchema } = require("addrspec/schema");

test("results", async () => {
  const addresses = JSON.parse(readFileSync("public/addresses.json", "utf8"));
  const facts = await checkMany(addresses);
  const lines = facts.map((result) => `${JSON.stringify(result)}\n`);
  expect(lines.join("")).toBe(readFileSync("results.txt", "utf8"));
});

test("bytes", async () => {
  const checker = await load(readFileSync(require.resolve("addrspec/addrspec.wasm")));
  expect(checker.check(Buffer.from("jane@gmial.com"))).toEqual(await check("jane@gmial.com"));
});

test("errors", async () => {
  await expect(verdict("jane@example.org", "7")).rejects.toThrow(PolicyRefused);
  await expect(verifyLists(new Uint8Array(1), "none", "none")).rejects.toThrow(ListsError);
});

test("the schema", async () => {
  const { value } = await emailSchema()["~standard"].validate("Jane@Example.org");
  expect(value).toBe("jane@example.org");
});

test("the element", () => {
  expect(typeof AddrspecEmail).toBe("function");
});
