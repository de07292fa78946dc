// Uses addrspec/schema in Node, Deno, Bun and, as a part of page.mjs, Chromium.

import { load, PolicyRefused } from "addrspec";
import { emailSchema, translate } from "addrspec/schema";

const SECRET = "jane.secret";

/** Returns what a program may print: the results of each case by its name. */
export async function schemaResults() {
  const checker = emailSchema()["~standard"].validate("jane@example.org");
  const first = checker instanceof Promise;
  await checker;
  const validate = (value, options) => emailSchema(options)["~standard"].validate(value);
  return {
    first,
    later: validate("Jane@Example.org"),
    given: validate("Jane@Example.org", { output: "given" }),
    quoted: validate('"jane"@example.org', {
      output: "normalized",
      allowTypo: undefined,
      policy: {},
    }),
    unusual: validate(`${SECRET}@gmail.cmo`),
    arpa: validate("jane@mail.home.arpa").issues[0].code,
    notValid: validate(`${SECRET}..@example.org`),
    repairable: validate("Jane <jane@example.org>"),
    empty: validate(""),
    typo: validate(`${SECRET}@gmial.com`),
    typoRefused: validate(`${SECRET}@gmial.com`, { allowTypo: false }),
    ...policies(validate),
    ...texts(validate),
    kinds: [undefined, null, 7, {}, [], Symbol("s"), new Uint8Array(1)].map(
      (value) => validate(value).issues[0].code,
    ),
    hostile: [
      "a".repeat(2 << 20),
      `${"é".repeat(1 << 20)}@example.org`,
      "jane\u0000@example.org",
      "__proto__",
      "@".repeat(5000),
    ].map((value) => validate(value, { messages: {} }).issues[0].code),
    ...errors(),
    own: emailSchema({ checker: await load() })["~standard"].validate("x@example.org").value,
    standard: Object.keys(emailSchema()["~standard"]).sort().join(),
  };
}

function policies(validate) {
  const policy = { block: { reasons: ["disposable", "typo"] }, review: { reasons: ["role"] } };
  const named = { allow: { domains: ["gmial.com"] } };
  return {
    blocked: validate("jane@mailinator.com", { policy }),
    blockedTypo: validate("jane@gmial.com", { policy: JSON.stringify(policy) }),
    reviewed: validate("info@example.org", { policy }),
    notValidFirst: validate("jane..@mailinator.com", { policy }).issues[0].code,
    allowedTypo: validate("jane@gmial.com", { policy: named, allowTypo: false }),
  };
}

function texts(validate) {
  const messages = {
    invalid: "Ungültig.",
    local_part_two_dots: ({ code }) => `Zwei Punkte (${code}).`,
    typo: "Meinten Sie {domain}? {suggestion} {reason}{unknown}",
    policy: "Nicht erlaubt: {reason}",
  };
  const message = (value, options) => validate(value, options).issues[0].message;
  const strict = { messages, allowTypo: false, policy: { block: { reasons: ["disposable"] } } };
  return {
    translated: ["jane", "jane..x@example.org", "jane@gmial.com", "jane@mailinator.com", 7].map(
      (value) => message(value, strict),
    ),
    byFunction: message("jane", { messages: (issue) => `${issue.code}: ${issue.message}` }),
    button: translate({ code: "suggestion", message: "Use it", domain: "x.example" }, messages),
  };
}

function errors() {
  const thrown = (call) => {
    try {
      return call();
    } catch (error) {
      if (error instanceof PolicyRefused) return error.place;
      return `${error.name}: ${error.message}`;
    }
  };
  return {
    refusedPolicy: thrown(() =>
      emailSchema({ policy: { block: { reasons: ["disposible"] } } })["~standard"].validate("x"),
    ),
    unknownOption: thrown(() => emailSchema({ [SECRET]: true })),
    wrongOutput: thrown(() => emailSchema({ output: SECRET })),
    noOptions: thrown(() => emailSchema(null)),
  };
}
