// Uses the schemas with the real libraries, in Node.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { check } from "addrspec";
import { type EmailIssue, type EmailSchemaOptions, emailSchema } from "addrspec/schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { SignUp as ArkType } from "./arktype.ts";
import { router } from "./trpc.ts";
import { SignUp as Valibot } from "./valibot.ts";
import { SignUp as Zod } from "./zod.ts";

const TYPED = { email: "Jane@Example.org" };
const NORMAL = { email: "jane@example.org" };
const BAD = { email: "jane..doe@example.org" };
const SENTENCE = "The local part has two dots in a row; remove one.";

const schema = emailSchema({ policy: undefined, checker: undefined });
const typed: StandardSchemaV1.InferInput<typeof schema> = TYPED.email;
const normal: StandardSchemaV1.InferOutput<typeof schema> = NORMAL.email;
const standard: StandardSchemaV1<string, string> = schema;
const signUps: StandardSchemaV1<{ email: string }, { email: string }>[] = [Zod, Valibot, ArkType];
// @ts-expect-error: an address is text
const number: StandardSchemaV1.InferInput<typeof schema> = 7;
// @ts-expect-error: there is no such output
const output: EmailSchemaOptions["output"] = "lower";
// @ts-expect-error: an issue is read-only
const change = (issue: EmailIssue) => (issue.code = "");

assert.deepEqual(await standard["~standard"].validate(typed), { value: normal });
for (const signUp of signUps) {
  const accepted = await signUp["~standard"].validate(TYPED);
  assert.deepEqual(!accepted.issues && accepted.value, NORMAL);
  const { issues = [] } = await signUp["~standard"].validate(BAD);
  const paths = issues.map(
    ({ path = [] }) => Array.from(path, (part) => (typeof part === "object" ? part.key : part)), // ArkType has its own array
  );
  assert.deepEqual(paths, [["email"]]);
}

const zod = await Zod.safeParseAsync(BAD);
assert.deepEqual(
  zod.error?.issues.map(({ path, message }) => [path, message]),
  [[["email"], SENTENCE]],
);
const [zodIssue] = zod.error?.issues ?? [];
assert.deepEqual(zodIssue?.code === "custom" && zodIssue.params, { code: "local_part_two_dots" });

const valibot = await v.safeParseAsync(Valibot, BAD);
assert.deepEqual(
  valibot.issues?.map(({ message }) => message),
  [SENTENCE],
);

const arktype = ArkType(BAD);
assert.ok(arktype instanceof type.errors);
assert.match(arktype.summary, /two dots in a row/);

const caller = router.createCaller({});
assert.equal(await caller.signUp(TYPED.email), normal);
await assert.rejects(caller.signUp(BAD.email), { code: "BAD_REQUEST", message: SENTENCE });

// Without a policy it refuses what people do not type into a form; an empty policy accepts every
// valid address.
const rows = readFileSync("forms.tsv", "utf8").trimEnd().split("\n").slice(1);
assert.equal(rows.length, 20);
const everyValid = emailSchema({ policy: {} });
for (const row of rows) {
  const [address = "", code = "", others = ""] = row.split("\t");
  const theirs = v.safeParse(v.pipe(v.string(), v.email()), address);
  assert.equal(z.email().safeParse(address).success, others.includes("zod"), address);
  assert.equal(theirs.success, others.includes("valibot"), address);
  const { issues } = await schema["~standard"].validate(address);
  assert.equal(issues?.[0]?.code ?? "", code, address);
  const { valid } = await check(address);
  assert.equal(!(await everyValid["~standard"].validate(address)).issues, valid, address);
}

console.log("ok");

export { change, number, output };
