import assert from "node:assert/strict";
import { test } from "node:test";
import { engine, listsOf, packedLists, Signer } from "../test/testing.ts";
import {
  ListsError,
  MAX_BLOB,
  parsePublicKey,
  parseRelease,
  parseSignature,
  readAnnouncement,
  requireAnnounced,
  requireFresh,
  requireNotOlder,
  versionOf,
} from "./signature.ts";

const release = { version: "2026.11.22-1a2b3c4d", signed: 1795372800, expires: 1797964800 };
const COMMENT = "addrspec lists version:2026.11.22-1a2b3c4d signed:1795372800 expires:1797964800";
const signer = new Signer();
const key = parsePublicKey(signer.key);

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
async function verified(file: Uint8Array, text: string, keyText = KEY): Promise<boolean> {
  const announcement = await readAnnouncement(text, parsePublicKey(keyText));
  const reason = await requireAnnounced(file, announcement).catch((error: Error) => error.message);
  return /^the trusted comment is of the lists /.test(reason ?? ""); // the file is no blob of lists
}

test("a signature of minisign is verified", async () => {
  assert.equal(await verified(FILE, SIGNATURE), true);
  assert.equal(await verified(FILE, SIGNATURE.replaceAll("\n", "\r\n")), true);
  assert.equal(await verified(FILE, SIGNATURE.trimEnd(), PUB), true);
  assert.equal(await verified(new Uint8Array(9), SIGNATURE), false);
});

test("files of any size are verified, across the pieces of the hash", async () => {
  for (const size of [0, 1, 127, 128, 129, 65_535, 65_536, 65_537, 400_000]) {
    const file = new Uint8Array(size).map((_, n) => n * 31);
    assert.equal(await verified(file, signer.sign(file, COMMENT), signer.key), true, String(size));
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
  await assert.rejects(
    verified(FILE, real.sign(FILE, COMMENT), other.key),
    /trusted comment is wrong/,
  );
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

test("parseRelease reads exactly one form", () => {
  assert.deepEqual(parseRelease(COMMENT), release);
  for (const wrong of [
    "",
    "timestamp:1795372800\tfile:lists.blob\thashed",
    ` ${COMMENT}`,
    `${COMMENT} `,
    `${COMMENT}\n`,
    `${COMMENT} more:1`,
    COMMENT.replace(" signed", "  signed"),
    COMMENT.replace("1a2b3c4d", "1A2B3C4D"),
    COMMENT.replace("1a2b3c4d", "1a2b3c4"),
    COMMENT.replace("2026.11.22", "2026-11-22"),
    COMMENT.replace("signed:1", "signed:+1"),
    COMMENT.replace("signed:1", "signed:01"),
    COMMENT.replace("signed:1795372800", "signed:1e9"),
    COMMENT.replace("signed:1795372800", "signed:"),
    COMMENT.replace("signed:1795372800", "signed:17953728001795"),
    COMMENT.replace("signed:1795372800 expires:1797964800", "expires:1797964800 signed:1795372800"),
    COMMENT.replace(" expires:1797964800", ""),
    COMMENT.replace("1797964800", "1795372800"), // it expires when it is signed
  ]) {
    assert.throws(() => parseRelease(wrong), { name: "ListsError" }, wrong);
  }
});

test("versionOf reads the version that the module returns", () => {
  assert.equal(versionOf(packedLists), engine.versions().lists);
  assert.match(versionOf(listsOf("2030.01.01")) ?? "", /^2030\.01\.01-[0-9a-f]{8}$/);
  for (const wrong of ["", "addrspec", "<html>".repeat(10)]) {
    assert.equal(versionOf(new TextEncoder().encode(wrong)), undefined);
  }
});

test("requireNotOlder compares the times of signing, or the days of lists without a signature", () => {
  const current = "2026.11.22-00000000";
  const check = (version: string, signed?: number) => requireNotOlder(release, { version, signed });
  check(current);
  check(current, release.signed);
  check(current, release.signed - 1);
  check("2026.11.21-ffffffff");
  check("2026.11.23-ffffffff", release.signed - 1); // the signer went back to older lists
  assert.throws(() => check(current, release.signed + 1), {
    message:
      "they are older than the lists in use: signed 2026-11-22T18:40:00Z, those in use 2026-11-22T18:40:01Z",
  });
  assert.throws(() => check("2026.11.23-00000000"), {
    message:
      "they are older than the lists in use: 2026.11.22-1a2b3c4d, in use 2026.11.23-00000000",
  });
});

test("requireFresh refuses lists that have expired, and those of a wrong clock", () => {
  const check = (seconds: number) => requireFresh(release, 1000 * seconds);
  check(release.signed);
  check(release.signed - 86_400);
  check(release.expires - 0.001);
  assert.throws(() => check(release.expires), {
    message: "they expired on 2026-12-22T18:40:00Z: sign them again",
  });
  assert.throws(() => check(release.signed - 86_401), /which is in the future/);
});

test("a blob must be the signed one, and its version that of the comment", async () => {
  const blob = listsOf("2030.01.01");
  const comment = `addrspec lists version:${versionOf(blob)} signed:1 expires:2`;
  const announcement = await readAnnouncement(signer.sign(blob, comment), key);
  await requireAnnounced(blob, announcement);
  for (const [wrong, reason] of [
    [packedLists, /does not fit the lists/],
    [blob.subarray(1), /does not fit the lists/],
    [blob.map((byte, at) => (at === 1000 ? byte ^ 1 : byte)), /does not fit the lists/],
    [new Uint8Array(0), /does not fit the lists/],
    [new Uint8Array(MAX_BLOB + 1), /larger than 4 MiB/],
  ] as const) {
    await assert.rejects(requireAnnounced(wrong, announcement), reason);
  }
  const other = await readAnnouncement(signer.sign(packedLists, comment), key);
  await assert.rejects(requireAnnounced(packedLists, other), {
    message: `the trusted comment is of the lists ${versionOf(blob)}, the signed file is ${versionOf(packedLists)}`,
  });
  const page = new TextEncoder().encode("<html>");
  const signedPage = await readAnnouncement(signer.sign(page, comment), key);
  await assert.rejects(requireAnnounced(page, signedPage), /is not a blob of lists/);
});

test("readAnnouncement bounds a signature", async () => {
  const text = `untrusted comment: ${"x".repeat(4096)}\n`;
  await assert.rejects(readAnnouncement(text, key), /larger than 4 KiB/);
});

// Damages what a server may send at up to three places, the same in every run.
test("no input makes a parser fail in another way than with a ListsError", () => {
  const blob = listsOf("2030.01.01").subarray(0, 40);
  const seeds = [signer.sign(blob, COMMENT), signer.key, COMMENT, String.fromCharCode(...blob), ""];
  let seed = 1;
  const random = (n: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % n;
  };
  const refused = new Set<string>();
  for (let n = 0; n < 30_000; n++) {
    let text = seeds[n % seeds.length] ?? "";
    for (let k = random(3); k >= 0; k--) {
      const at = random(text.length + 1);
      const insert = "AZaz09+/= :.-\n\r\0\u00e9\ud800"[random(19)] ?? "";
      text = text.slice(0, at) + insert + text.slice(at + random(3));
    }
    for (const parse of [parseSignature, parsePublicKey, parseRelease]) {
      try {
        parse(text);
      } catch (error) {
        assert.ok(
          error instanceof ListsError,
          `${parse.name} of ${JSON.stringify(text)}: ${error}`,
        );
        refused.add(error.message);
      }
    }
    versionOf(new TextEncoder().encode(text));
  }
  assert.ok(refused.size >= 4, [...refused].join());
});
