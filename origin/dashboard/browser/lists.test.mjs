// Unit tests of the scripts of the page Lists, in Node: node --test lists.test.mjs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInThisContext } from "node:vm";

/** @param {string} path */
const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

runInThisContext(read("../assets/papaparse.min.js")); // as a script of the page
const { addressesOf, formulasOf, MAX_FILE, readList, writeList } = await import(
  "../assets/list-file.js"
);
const { accountChecker, checkList, figuresOf, Halt, leftOf, offlineChecker } = await import(
  "../assets/list-check.js"
);
const { costSentence } = await import("../assets/list-cost.js");

/** @typedef {import("../assets/list-file.js").Choice} Choice */
/** @typedef {import("../assets/list-file.js").Result} Result */

const NAMES = read("../../check/input/names.txt");

/**
 * @param {string | Uint8Array<ArrayBuffer>} content
 * @param {Partial<Choice>} [given]
 * @param {string} [name]
 */
const list = (content, given = {}, name = "list.csv") =>
  readList(new File([content], name), given, NAMES);

// `addrspec check` guesses the same.
/** @type {{ name: string, file: string, text: string, delimiter: string, header: boolean, column: number }[]} */
const GUESSES = JSON.parse(read("../../check/input/testdata/layouts.json"));

for (const { name, file, text, ...want } of GUESSES) {
  test(`guesses ${name}`, async () => {
    const { encoding, ...choice } = (await list(text, {}, file)).choice;
    assert.deepEqual(choice, want);
    assert.equal(encoding, "utf-8");
  });
}

// `addrspec check` reads the same, but for shapes that Papa Parse reads in another way. The page
// refuses an empty file.
const EXOTIC = ["nothing", "mixed line breaks", "a quoted local part"];
/** @type {{ name: string, text: string, rows: string[][] }[]} */
const ROWS = JSON.parse(read("../../check/input/testdata/rows.json"));

for (const { name, text, rows } of ROWS.filter((row) => !EXOTIC.includes(row.name))) {
  test(`reads ${name}`, async () => {
    const widest = Math.max(...rows.map((cells) => cells.length));
    const end = /\r?\n$|\r$/.exec(text)?.[0] ?? "\n";
    const found = await list(`"email"${",".repeat(widest - 1)}${end}${text}`, {
      ...{ delimiter: ",", header: true, column: 0 },
    });
    const filled = rows.map((cells) => [...cells, ...Array(widest - cells.length).fill("")]);
    const seen = found.rows.map((row) => row.cells);
    assert.deepEqual(seen, filled);
  });
}

test("does not guess what is given", async () => {
  const given = { delimiter: "|", header: true, column: 0 };
  const { choice } = await list("a,b@x.example\n", given);
  assert.deepEqual(choice, { encoding: "utf-8", ...given });
});

const text = "naïve,josé@bücher.example\n😀,b@example.org\n";
const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
for (const [name, content] of /** @type {[string, Uint8Array<ArrayBuffer>][]} */ ([
  ["UTF-8", new TextEncoder().encode(text)],
  ["UTF-8 with a mark", new TextEncoder().encode(`\ufeff${text}`)],
  ["UTF-16 LE", new Uint8Array(utf16)],
  ["UTF-16 BE", new Uint8Array(Buffer.from(utf16).swap16())],
])) {
  test(`decodes ${name}`, async () => {
    const { rows } = await list(content);
    assert.deepEqual(rows[0], {
      cells: ["naïve", "josé@bücher.example"],
      address: "josé@bücher.example",
    });
    assert.deepEqual(rows[1]?.cells, ["😀", "b@example.org"]);
  });
}

test("asks for the encoding of what is not UTF-8", async () => {
  const rows = "x,y\na@example.org,Andr\xe9 \xc1\nb@example.org,\xc1;\xfc \xfd \xfe \xff\n";
  const content = new Uint8Array(Buffer.from(rows, "latin1"));
  const words = ["Andr\xe9", "\xc1", "\xfc", "\xfd", "\xfe"];
  await assert.rejects(list(content), {
    message: /not UTF-8\. Which encoding makes these words right/,
    choose: "encoding",
    words: words.map((word) => new Uint8Array(Buffer.from(word, "latin1"))),
  });
  const chosen = await list(content, { encoding: "windows-1252" });
  assert.equal(chosen.rows[0]?.cells[1], "André Á");
  assert.deepEqual(chosen.words, ["André", "Á", "ü", "ý", "þ"]);
  assert.ok(!chosen.lossy);
  assert.equal((await list(content, { encoding: "koi8-r" })).rows[0]?.cells[1], "AndrИ а");
  const wrong = await list(content, { encoding: "utf-8" });
  assert.match(wrong.rows[0]?.failure?.message ?? "", /not utf-8/);
  assert.ok(wrong.lossy);
  const marked = await list(new Uint8Array(utf16), { encoding: "gbk" });
  assert.equal(marked.choice.encoding, "utf-16le");
  const bare = new Uint8Array(utf16.subarray(2));
  await assert.rejects(list(bare), { message: /not text.* UTF-16 without/, words: [bare] });
  assert.equal((await list(bare, { encoding: "utf-16le" })).rows[1]?.address, "b@example.org");
});

test("decodes every encoding that the page offers", () => {
  const select = /<select id="encoding">.*?<\/select>/.exec(read("../templates/lists.html"))?.[0];
  const labels = [...(select ?? "").matchAll(/value="(.*?)"/g)].map(([, label]) => label);
  assert.equal(labels.length, 22);
  for (const label of labels) assert.equal(new TextDecoder(label).encoding, label);
});

for (const [name, content, given] of /** @type {[string, Uint8Array<ArrayBuffer>, string][]} */ ([
  ["with a mark", new TextEncoder().encode("\ufeffa@x.example\n"), undefined],
  ["of UTF-16", new Uint8Array(utf16), undefined],
  ["of another encoding", new Uint8Array([0xe9]), "windows-1252"],
])) {
  test(`writes a mark for a list ${name}`, async () => {
    const found = await list(content, { encoding: given });
    assert.equal(writeList(found, new Map(), false).lastIndexOf("\ufeff"), 0);
  });
}

test("drops the marks of files that were joined", async () => {
  const found = await list("\ufeffa@x.example\n\ufeffb@x.example\n");
  assert.deepEqual(addressesOf(found), ["a@x.example", "b@x.example"]);
});

test("finds the header below other rows, which come back before it", async () => {
  const notes = 'Notes:\n"Some, not all"\n\n';
  const found = await list(`${notes}First Name,Email Address,Company\nA,a@x.example,X\n`);
  assert.deepEqual(found.choice, {
    ...{ encoding: "utf-8", delimiter: ",", header: true, column: 1 },
  });
  assert.deepEqual(addressesOf(found), ["a@x.example"]);
  const written = writeList(found, new Map(), false);
  assert.ok(written.startsWith(`${notes}First Name,Email Address,Company,valid,`), written);
  assert.ok(written.includes("\nA,a@x.example,X,,"));
  const title = await list("# Kunden, 2026\nE-Mail\nName;E-Mail\nA;a@x.example\n");
  assert.deepEqual(title.names, ["Name", "E-Mail"], "the widest row with a known name");
  assert.deepEqual(title.preamble, [["# Kunden, 2026"], ["E-Mail"]]);
  const late = await list("a@x.example,A\nemail,name\n");
  assert.equal(late.names, null, "an address precedes it");
  assert.equal((await list(`${"-\n".repeat(10)}email,n\n`, {}, "x.txt")).names, null);
});

test("takes no handle for an address", async () => {
  const found = await list("handle,where\n@ann,a@x.example\n@bob.smith,\n@c,c@x.example\n");
  assert.equal(found.choice.column, 1);
});

test("does not check a cell with several addresses", async () => {
  for (const between of [" ::: ", " ", "\n", ",", "; ", "，", "、", "；"]) {
    const found = await list(`n,email\n1,"a@x.example${between}b@y.example"\n2,c@x.example\n`);
    assert.match(found.rows[0]?.failure?.message ?? "", /several addresses; give each a row/);
    assert.deepEqual(addressesOf(found), ["c@x.example"]);
  }
  const one = ['"a@x.example, b"@y.example', "Ann Lee <a@x.example>", "a b@x.example"];
  assert.deepEqual(addressesOf(await list(one.join("\n"), { delimiter: "" })), one);
});

test("passes over a quotation mark that is not closed, in few rows", async () => {
  const found = await list('a,email\n"1,b@x\n"2",c@x\n3,"d@x\n4,e@x\n');
  assert.deepEqual(
    found.rows.map(({ address, failure }) => address || failure?.code),
    ["BAD_LINE", "c@x", "BAD_LINE", "e@x"],
  );
  await assert.rejects(list(`a,email\n${'1,"b@x\n'.repeat(101)}`), { message: /More than 100/ });
});

test("reads many rows, and stops where reading them would take long", async () => {
  const found = await list(`a,email\n1,"c\n${"d,e@x\n".repeat(8e5)}`);
  assert.match(found.rows[0]?.failure?.message ?? "", /quotation mark/);
  assert.equal(found.rows.length, 8e5 + 1);
  await assert.rejects(list(",".repeat(1000)), { message: /columns/, choose: "layout" });
});

test("refuses what is no list", async () => {
  await assert.rejects(list(""), { message: /empty/ });
  await assert.rejects(list("x".repeat(MAX_FILE + 1)), { message: /command line/ });
});

/** @type {[string, RegExp][]} */
const OTHERS = [
  [
    "PK\x03\x04\0[Content_Types].xmlPK\x01\x02xl/workbook.xml",
    /Excel workbook \(\.xlsx\).*addrspec/,
  ],
  ["PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet", /\.ods.* as CSV UTF-8/],
  ["PK\x03\x04\0", /ZIP archive.*\.xlsx.* as CSV UTF-8/],
  ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", /\.xls.* as CSV UTF-8/],
  ["%PDF-1.7\n", /PDF/],
  ["\x1f\x8b\x08\0", /gzip/],
  ["BEGIN:VCARD\r\nVERSION:3.0\r\n", /vCards.* as CSV/],
  ["# extended LDIF\n#\nversion: 1\n\ndn: cn=Ann\n", /LDIF.* as CSV/],
  ["dn: cn=Ann,o=x\nmail: a@x.example\n", /LDIF/],
  ["\n<!DOCTYPE html>\n<table>", /HTML.*spreadsheet/],
  ["\xef\xbb\xbf<html>", /HTML/],
  ['<?xml version="1.0"?>', /XML.* as CSV/],
  ["From ann@x.example Mon Jan  1 00:00:00 2026\nReceived: from x\n", /mbox.* as CSV/],
  ["--\n-- PostgreSQL database dump\n--\n", /SQL.* as CSV/],
  ["PRAGMA x;\nINSERT INTO people VALUES ('a@x.example');\n", /SQL/],
  ['[{"email":"a@x"}]', /JSON.*command line/],
];
for (const [content, message] of OTHERS) {
  test(`refuses ${message}`, async () => {
    const bytes = new Uint8Array(Buffer.from(content, "latin1"));
    await assert.rejects(list(bytes, { encoding: "utf-8" }), { message });
  });
}

test("reads lists that look like something else", async () => {
  for (const content of [
    "From a@x.example\n",
    "version: 2\nemail,n\na@x.example,1\n",
    "email,note\na@x.example,INSERT INTO x\n",
  ]) {
    assert.equal((await list(content)).rows.length, 1);
  }
});

/** @type {Result} */
const valid = { facts: { email: "a@x", valid: true, mx: true, gibberish_score: 0.25, role: null } };

test("writes rows beside what they were", async () => {
  const found = await list(
    'id,email\r\n1,a@x\r\n2,\r\n\r\n3,"c""@x",extra\r\n4,fail@x\r\n5,"d\r\n@x"\r\n',
  );
  const results = new Map(
    /** @type {[string, Result][]} */ ([
      ["a@x", valid],
      ["fail@x", { failure: { code: "DNS_TIMEOUT", message: "no response" } }],
      [
        "d\r\n@x",
        {
          facts: { valid: false },
          refusal: { code: "x", offset: 1, sentence: "a, b", suggestion: "d@x" },
        },
      ],
    ]),
  );
  const none = ",".repeat(16);
  assert.equal(
    writeList(found, results, false),
    "id,email,valid,normalized,local_part,alias,ascii,role,gibberish,gibberish_score,domain,mx,disposable,public,relay,typo,typo_suggestion,reason,reason_offset,error,message\n"
      + `1,a@x,true,,,,,,,0.25,,true,,,,,,,,,\n`
      + `2,,${none},NO_ADDRESS,the row has no address\n`
      + `,,${none},NO_ADDRESS,the row has no address\n`
      + `3,"c""@x",${none},BAD_LINE,the row has 3 columns instead of 2: a cell with a separator in it needs quotation marks,extra\n`
      + `4,fail@x,${none},DNS_TIMEOUT,no response\n`
      + `5,"d\r\n@x",false,,,,,,,,,,,,,,,x,1,,"a, b; did you mean d@x?"\n`,
  );
});

test("counts what was found as the command does", async () => {
  const found = await list(
    `email,n\n${"a@x\n".repeat(3)}lit@[192.0.2.1],\nbad,\nfail@x,\nnever@x,\n,\n1,2,3\n`,
  );
  const facts = { valid: true, mx: false, typo: true, role: "info", domain: "x" };
  const results = new Map(
    /** @type {[string, Result][]} */ ([
      ["a@x", { facts }],
      ["lit@[192.0.2.1]", { facts: { valid: true, mx: false, domain: "[192.0.2.1]" } }],
      ["bad", { facts: { valid: false, mx: false, typo: false } }],
      ["fail@x", { failure: { code: "DNS_TIMEOUT", message: "" } }],
    ]),
  );
  const figures = figuresOf(found, results, true);
  assert.deepEqual(figures, [
    ["valid", "4", "66.7 %"],
    ["of them typo", "3", "50.0 %"],
    ["of them disposable", "0", "0.0 %"],
    ["of them role", "3", "50.0 %"],
    ["of them gibberish", "0", "0.0 %"],
    ["of them no MX record", "3", "50.0 %"],
    ["invalid", "1", "16.7 %"],
    ["errors", "1", "16.7 %"],
    ["rows without an address", "1", "11.1 %"],
    ["rows that cannot be read", "1", "11.1 %"],
  ]);
  const offline = figuresOf(found, results, false);
  assert.deepEqual(
    offline,
    figures.filter(([name]) => !name.includes("MX")),
  );
  assert.equal(figuresOf(found, new Map(), true)[0]?.[2], "", "nothing has no share");
  const many = await list(`${"a@x\n".repeat(1100)}bad\n`, { delimiter: "" });
  const shares = figuresOf(many, results, false).map(([, , share]) => share);
  assert.deepEqual([shares[0], shares[5]], ["> 99.9 %", "< 0.1 %"]);
});

test("makes CSV of a text file", async () => {
  const found = await list('a@x\n"b, c"@x\n', {}, "x.txt");
  assert.deepEqual(addressesOf(found), ["a@x", '"b, c"@x']);
  const [header, first, second] = writeList(found, new Map([["a@x", valid]]), false).split("\n");
  assert.ok(header?.startsWith("email,valid,"), header);
  assert.ok(first?.startsWith("a@x,true,"), first);
  assert.ok(second?.startsWith('"""b, c""@x",,'), second);
});

test("does not repeat a name of the file", async () => {
  const once = writeList(await list("name;Valid;mail\nA;1;a@x\n"), new Map(), false);
  assert.match(once, /^name;Valid;mail;addrspec_valid;addrspec_normalized;/);
  assert.match(writeList(await list(once), new Map(), false), /;addrspec_message;addrspec2_valid;/);
});

test("escapes formulas as OWASP advises, and counts those of the file", async () => {
  for (const [cell, escaped] of [
    ["=1+1", "'=1+1"],
    ["@x", "'@x"],
    ["＝x", "'＝x"],
    ["a;=1", "a;'=1"],
  ]) {
    const found = await list(`${cell},a@x\n`, { column: 1, delimiter: ",", header: false });
    assert.equal(formulasOf(found), 1);
    assert.ok(writeList(found, new Map(), true).startsWith("\ufeffcolumn_1,column_2,"));
    assert.ok(writeList(found, new Map(), true).includes(`\n${escaped},a@x,`));
    assert.ok(writeList(found, new Map(), false).includes(`\n${cell},a@x,`));
  }
});

test("takes each address once, and none that is far too long", async () => {
  const found = await list(`email\na@x\n a@x \n${"x".repeat(1001)}@x\n`);
  assert.deepEqual(addressesOf(found), ["a@x"]);
  assert.match(found.rows[2]?.failure?.message ?? "", /longer than 1000/);
});

test("checks with the module", async () => {
  const refusal = { code: "x", offset: 64, sentence: "it is too long" };
  const module = { check: () => ({ valid: false, mx: false, details: { refusal } }) };
  const results = await offlineChecker(module)(["a"], going);
  assert.deepEqual(results.get("a"), { facts: { valid: false, mx: false }, refusal });
});

const going = new AbortController().signal;

test("checks what has no result, and what failed", async () => {
  const addresses = Array.from({ length: 200 }, (_, n) => `p${n}@x`);
  const results = new Map([["p0@x", valid]]);
  /** @type {string[][]} */
  const asked = [];
  let failing = true;
  const check = async (/** @type {string[]} */ batch) => {
    asked.push(batch);
    const part = batch.slice(0, 60); // the service may leave out some of a batch
    return new Map(
      part.map((a) => [
        a,
        failing && a === "p7@x" ? { failure: { code: "DNS_TIMEOUT", message: "" } } : valid,
      ]),
    );
  };
  await checkList(addresses, results, check, going, () => {});
  assert.equal(results.size, 200);
  assert.deepEqual(leftOf(addresses, results), ["p7@x"]);
  assert.ok(!asked.flat().includes("p0@x"));
  failing = false;
  await checkList(addresses, results, check, going, () => {});
  assert.deepEqual(asked.at(-1), ["p7@x"]);
  const nothing = async () => new Map();
  await assert.rejects(
    checkList(["a"], new Map(), nothing, going, () => {}),
    Halt,
  );
});

test("keeps what was paid for when it is stopped", async () => {
  const controller = new AbortController();
  const results = new Map();
  const addresses = Array.from({ length: 200 }, (_, n) => `p${n}@x`);
  const check = async (/** @type {string[]} */ batch) => {
    controller.abort(new Error("stopped"));
    return new Map(batch.map((a) => [a, valid]));
  };
  const run = checkList(addresses, results, check, controller.signal, () => {});
  await assert.rejects(run, { message: "stopped" });
  assert.equal(results.size, 64);
});

/**
 * An account whose requests get these responses one after the other, and what it sent
 * and waited for.
 * @param {((emails: string[]) => Response | null)[]} responses
 */
function account(...responses) {
  /** @type {{ emails: string[], key: string | null }[]} */
  const sent = [];
  /** @type {number[]} */
  const waited = [];
  const checker = accountChecker({
    url: "/check",
    token: "form",
    onCharge: () => {},
    wait: async (ms) => void waited.push(ms),
    send: async (_, { body, headers }) => {
      const { emails } = JSON.parse(String(body));
      sent.push({ emails, key: new Headers(headers).get("Idempotency-Key") });
      const response = responses.shift()?.(emails);
      if (!response) throw new TypeError("Failed to fetch");
      return response;
    },
  });
  return { check: (/** @type {string[]} */ emails) => checker(emails, going), sent, waited };
}

const all = (/** @type {string[]} */ emails, headers = {}) =>
  Response.json(
    {
      usage_points: 1,
      results: emails.map((email) => ({
        ...{ email, error: null },
        result: { email, details: { refusal: null } },
      })),
    },
    { headers },
  );

/** @param {number} status @param {Record<string, string>} headers @param {object} body */
const refuse =
  (status, headers = {}, body = {}) =>
  () =>
    Response.json(body, { status, headers });

test("sends a failed request again with the same key", async () => {
  const { check, sent, waited } = account(
    () => null,
    refuse(503, { "Retry-After": "7" }),
    refuse(409),
    all,
    all,
  );
  assert.equal((await check(["a", "b"])).size, 2);
  assert.equal(new Set(sent.map(({ key }) => key)).size, 1);
  assert.ok(waited.includes(7000), `${waited}`);
  await check(["c"]);
  assert.notEqual(sent.at(-1)?.key, sent[0]?.key);
});

test("obeys the rate and Retry-After", async () => {
  const limited = (/** @type {string[]} */ emails) =>
    all(emails, { "RateLimit-Policy": '"rate";q=2;w=1, "points";q=1000;qu="points"' });
  const busy = Array.from({ length: 10 }, () => refuse(429, { "Retry-After": "3" }));
  const { check, waited } = account(limited, ...busy, limited);
  await check(["a"]);
  await check(["b"]);
  assert.ok(waited.includes(525), `${waited}`);
  assert.equal(waited.filter((ms) => ms === 3000).length, 10, "being over the rate is no failure");
});

/** @type {[string, () => Response, RegExp][]} */
const HALTS = [
  [
    "the points are used up",
    refuse(402, {}, { error: { required: 64, remaining: 7 } }),
    /7 are left and the next batch needs 64/,
  ],
  ["the points of a single are used up", refuse(429), /too few points/],
  ["the page is out of date", refuse(403, {}, { code: "FORM_TOKEN" }), /Load it again/],
  [
    "the body is refused",
    refuse(400, {}, { error: { message: "emails must be strings" } }),
    /emails must be strings/,
  ],
];
for (const [name, response, sentence] of HALTS) {
  test(`halts where ${name}`, async () => {
    const { check, sent } = account(response);
    await assert.rejects(check(["a"]), (e) => e instanceof Halt && sentence.test(e.message));
    assert.equal(sent.length, 1);
  });
}

test("halts after eight attempts", async () => {
  const { check, sent } = account();
  await assert.rejects(check(["a"]), /cannot be reached/);
  assert.equal(sent.length, 8);
});

test("says what a list costs", () => {
  const refill = "2026-12-01T00:00:00Z";
  const points = { used: 950, limit: 1000, left: 50, overage: false, refill, rate: 1 };
  const few = costSentence(80, { points }, false);
  assert.match(few.text, /as many points, but your account has 50 left until December 1\./);
  assert.deepEqual([few.enough, few.startable, few.button], [false, true, "Check about 50"]);
  assert.equal(costSentence(80, { points: { ...points, left: 0 } }, false).startable, false);
  const overage = { points: { ...points, overage: true } };
  assert.match(costSentence(80, overage, false).text, /30 are overage/);
  const unlimited = { points: { ...points, limit: null, left: null } };
  const takes = /no limit\. At 1 request a second it takes at least 18 minutes/;
  assert.match(costSentence(64_000, unlimited, false).text, takes);
  assert.match(costSentence(80, { points }, true).text, /costs nothing/);
  assert.equal(costSentence(0, { points }, true).startable, false);
});
