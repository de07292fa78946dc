import assert from "node:assert/strict";
import { test } from "node:test";
import { KEY } from "../test/testing.ts";
import { checksum, isWellFormed, readKey } from "./key.ts";

test("checksum is CRC-32 in base 62", () => {
  assert.equal(checksum(KEY.slice(0, 36)), "2CGNRW");
  // The CRC of "123456789" is 0xCBF43926 in every catalogue of CRCs.
  let rest = 0xcbf43926;
  let want = "";
  while (want.length < 6) {
    want = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[rest % 62] + want;
    rest = Math.floor(rest / 62);
  }
  assert.equal(checksum("123456789"), want);
});

test("isWellFormed rejects one changed digit at any position", () => {
  for (let at = 4; at < KEY.length; at++) {
    const other = KEY[at] === "z" ? "y" : "z";
    assert.equal(isWellFormed(KEY.slice(0, at) + other + KEY.slice(at + 1)), false, `at ${at}`);
  }
});

test("isWellFormed rejects other forms", () => {
  for (const key of [
    "",
    "ask_",
    KEY.slice(1),
    `${KEY}0`,
    KEY.toUpperCase(),
    KEY.replace("ask_", "ASK_"),
    `${KEY.slice(0, -1)}\n`,
    `ask_${"é".repeat(38)}`,
  ]) {
    assert.equal(isWellFormed(key), false, JSON.stringify(key));
  }
});

test("readKey prefers X-API-Key to Authorization", () => {
  const read = (headers: Record<string, string>) => {
    const key = readKey(new Headers(headers));
    return typeof key === "string" ? key : key.message.split(" ", 3).join(" ");
  };
  assert.equal(read({ "X-API-Key": KEY }), KEY);
  assert.equal(read({ "X-API-Key": ` ${KEY} ` }), KEY);
  assert.equal(read({ Authorization: `Bearer ${KEY}` }), KEY);
  assert.equal(read({ Authorization: `bEARER   ${KEY}` }), KEY);
  assert.equal(read({ "X-API-Key": KEY, Authorization: "Bearer nonsense" }), KEY);
  assert.equal(read({ "X-API-Key": "nonsense", Authorization: `Bearer ${KEY}` }), "This is not");
  assert.equal(read({ "X-API-Key": " ", Authorization: `Bearer ${KEY}` }), KEY);
  assert.equal(read({ Authorization: `Basic ${KEY}` }), "No API key");
  assert.equal(read({ Authorization: KEY }), "No API key");
  assert.equal(read({ Authorization: `Bearer\t${KEY}` }), "No API key");
  assert.equal(read({}), "No API key");
  assert.equal(read({ "X-API-Key": `${KEY}\xa0` }), "This is not");
  for (const list of [`${KEY}, ${KEY}`, `${KEY},`, ",", `, ${KEY}`]) {
    assert.equal(
      read({ "X-API-Key": list, Authorization: `Bearer ${KEY}` }),
      "The header X-API-Key",
      list,
    );
  }
  for (const list of [`Bearer ${KEY}, Bearer ${KEY}`, `Basic x, Bearer ${KEY}`]) {
    assert.equal(read({ Authorization: list }), "The header Authorization", list);
  }
});
