import assert from "node:assert/strict";
import { test } from "node:test";

import { parsePublicKey, parseSignature, verifyComment, verifyFile } from "./minisign.ts";
import { Signer } from "./testing.ts";

// Made with minisign 0.11: minisign -G -W, minisign -S, and with -l for LEGACY.
const KEY = "RWRJigPaT5Ux8pt4gxmZPuJTB1Ipt3lGzHPJ809pD49ZzbR20adByO79";
const PUB = `untrusted comment: minisign public key F231954FDA038A49\n${KEY}\n`;
const FILE = new TextEncoder().encode("addrspec\n");
const SIGNATURE = `untrusted comment: signature from minisign secret key
RURJigPaT5Ux8nchLe08qEb+YBH5yw+hOcPcd4eHnHdMIAv3osUG4FrJu5MngTMQjqGrGNa1En3sZGYve4pBlISIZqbTGobWNA0=
trusted comment: addrspec lists version:2026.11.22-1a2b3c4d signed:1795372800 expires:1797964800
naUBvUxmt1Rz4TnV1SWCGvoKJ2FtyU86QKpJW8U7SANDWuS9KJOLAEOFHUaRmScHhudNyXFJyEnuc6wgbdB8Dg==
`;
const LEGACY = `untrusted comment: signature from minisign secret key
RWRJigPaT5Ux8gArxmcrpZg3gVJCoVTrIwMAzdgtxkV2aOEcVRJEHVMPD/8bOzjYUdb6nNqS3IM6WNC5qBqycOebplFZuuLeqww=
trusted comment: x
ZY6ZEh80rJZjzOWBcySB9BGmWWtaJ17UjwRkgvbp0vDx+TT2ggqpn3qI6+5jZM5q8r9wgKbbwTshEZjmnkzeCA==
`;

/** Returns whether the key signed the file; rejects with the reason for a wrong comment. */
async function verified(file: Uint8Array, text: string, key = KEY): Promise<boolean> {
  const signature = parseSignature(text);
  await verifyComment(signature, parsePublicKey(key));
  return verifyFile(file, signature, parsePublicKey(key));
}

test("a signature of minisign is verified", async () => {
  assert.equal(await verified(FILE, SIGNATURE), true);
  assert.equal(await verified(FILE, SIGNATURE.replaceAll("\n", "\r\n")), true);
  assert.equal(await verified(FILE, SIGNATURE.trimEnd(), PUB), true);
  assert.equal(await verified(new Uint8Array(9), SIGNATURE), false);
});

test("files of any size are verified, across the pieces of the hash", async () => {
  const signer = new Signer();
  for (const size of [0, 1, 127, 128, 129, 65_535, 65_536, 65_537, 400_000]) {
    const file = new Uint8Array(size).map((_, n) => n * 31);
    assert.equal(await verified(file, signer.sign(file, "c"), signer.key), true, String(size));
  }
});

test("parsePublicKey reads a line or a file", () => {
  assert.equal(parsePublicKey(KEY).id, "F231954FDA038A49");
  assert.deepEqual(parsePublicKey(PUB), parsePublicKey(` ${KEY}\r\n`));
  for (const wrong of [
    "",
    "RW",
    KEY.slice(1),
    `${KEY}A`,
    `${KEY}\n${KEY}`,
    SIGNATURE,
    KEY.replace("RW", "RU"),
  ]) {
    assert.throws(() => parsePublicKey(wrong), { name: "ListsError", message: /begins with RW/ });
  }
});

test("parsePublicKey recognizes a secret key, and does not repeat it", () => {
  assert.throws(() => parsePublicKey(`untrusted comment: secret\n${"RWQA".repeat(53)}`), {
    message: "this is a secret key: keep it where lists are signed, and give the public key",
  });
});

test("a legacy signature is refused, with what to do", () => {
  assert.throws(() => parseSignature(LEGACY), { name: "ListsError", message: /sign without -l/ });
});

test("a signature of another key is refused before any arithmetic", async () => {
  await assert.rejects(verified(FILE, SIGNATURE, new Signer().key), {
    message: "it is signed with the key F231954FDA038A49, not with the given key 3736353433323130",
  });
});

test("a key with the right id and other bytes verifies nothing", async () => {
  const [real, other] = [new Signer(), new Signer()];
  await assert.rejects(verified(FILE, real.sign(FILE, "c"), other.key), /trusted comment is wrong/);
});

test("what is not a signature is refused", () => {
  const lines = SIGNATURE.split("\n");
  for (const wrong of [
    "",
    "<!doctype html>\n<p>\n<p>\n<p>",
    lines.slice(1).join("\n"),
    lines.slice(0, 3).join("\n"),
    `${SIGNATURE}\n`,
    `${SIGNATURE}x`,
    SIGNATURE.replace("trusted comment", "comment"),
    SIGNATURE.replace("\ntrusted", "\n trusted"),
    SIGNATURE.replace("RURJ", "RUR"),
    SIGNATURE.replace("RURJ", "RU=J"),
    SIGNATURE.replace("RURJ", "XXRJ"),
  ]) {
    assert.throws(() => parseSignature(wrong), { name: "ListsError" }, wrong);
  }
});

// Every other character at every place of the two signatures, the key id and the
// trusted comment must be refused. The first line is not signed.
test("a signature with one other character is refused", async () => {
  const start = SIGNATURE.indexOf("\n") + 1;
  let refused = 0;
  for (let at = start; at < SIGNATURE.length - 1; at++) {
    for (const other of "A/=e0 \n") {
      if (SIGNATURE[at] === other) continue;
      const changed = SIGNATURE.slice(0, at) + other + SIGNATURE.slice(at + 1);
      const accepted = await verified(FILE, changed).catch(() => false);
      assert.equal(accepted, false, changed);
      refused++;
    }
  }
  assert.ok(refused > 1500);
});
