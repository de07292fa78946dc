/** An email address as a Standard Schema: `addrspec/schema`. email-schema.d.ts describes it. */

import type {
  EmailIssue,
  EmailResult,
  EmailSchema,
  EmailSchemaOptions,
  Messages,
} from "./email-schema.d.ts";
import type { Checker, Policy } from "./index.d.ts";

export type * from "./email-schema.d.ts";

const OPTIONS = ["policy", "allowTypo", "output", "messages", "checker"];
const OUTPUTS = ["normalized", "given", undefined];

/** The policy of a schema without one: an address is such as people type into a form. */
const USUAL =
  '{"block": {"domains": ["*.arpa"], "reasons": ["single_label", "unknown_tld", "literal", "comment", "quoted"]}}';

/** What is wrong with a valid address that USUAL blocks, by the code. */
const UNUSUAL: { readonly [code: string]: string } = {
  single_label: "The domain has no dot; use an address at a full domain name, such as example.org.",
  unknown_tld: "The domain ends in no top-level domain; check what is after its last dot.",
  literal: "The domain is an IP address; use an address at a domain name.",
  comment: "The address has a comment; remove the parentheses and what is in them.",
  quoted: "The local part is in quotation marks; use an address without them.",
  arpa: "Domains below .arpa have no mailboxes for people; use an address at another domain.",
};

/** Set by the first validation of any schema, so that later ones need no promise. */
let loaded: Checker | undefined;

async function load(): Promise<Checker> {
  const { load: loadDefault } = await import("addrspec");
  loaded = await loadDefault();
  return loaded;
}

export function emailSchema(options: EmailSchemaOptions = {}): EmailSchema {
  if (typeof options !== "object" || options === null)
    throw new TypeError("options must be an object");
  if (Object.keys(options).some((name) => !OPTIONS.includes(name)))
    throw new TypeError(`options has another member than ${OPTIONS.join(", ")}`);
  if (!OUTPUTS.includes(options.output))
    throw new TypeError('options.output must be "normalized" or "given"');
  const validate = (value: unknown) => {
    const checker = options.checker ?? loaded;
    if (checker !== undefined) return resultOf(checker, value, options);
    return load().then((ready) => resultOf(ready, value, options));
  };
  return { "~standard": { version: 1, vendor: "addrspec", validate } };
}

export function translate(issue: EmailIssue, messages: Messages = {}): string {
  if (typeof messages === "function") return messages(issue);
  const isRefusal = !["typo", "policy", "suggestion"].includes(issue.code);
  const message = messages[issue.code] ?? (isRefusal ? messages.invalid : undefined);
  if (typeof message === "function") return message(issue);
  if (message === undefined) return issue.message;
  return message.replace(
    /\{(domain|suggestion|reason)\}/g,
    (_, name: "domain" | "suggestion" | "reason") => issue[name] ?? "",
  );
}

function resultOf(checker: Checker, value: unknown, options: EmailSchemaOptions): EmailResult {
  if (typeof value !== "string") return failure(NOT_TEXT, options);
  const checked = check(checker, value, options.policy);
  if (checked === undefined) return failure(TOO_LONG, options);
  const [{ normalized, typo_suggestion: suggestion }, verdict] = checked;
  const issue = { ...NOT_TEXT, suggestion, domain: domainOf(suggestion) };
  if (normalized === null) {
    const refusal = checker.explain(value).refusal;
    const { code, sentence, suggestion: meant } = refusal ?? INVALID;
    // The module's clause gets a capital and a full stop.
    const message = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
    return failure(
      { ...issue, code, message, suggestion: meant, domain: domainOf(meant) },
      options,
    );
  }
  const { action, reason } = verdict;
  if (action === "block" && options.policy !== undefined)
    return failure({ ...issue, ...BLOCKED, reason }, options);
  if (action === "block") {
    const code = reason === "domain" ? "arpa" : `${reason}`;
    return failure({ ...issue, code, message: UNUSUAL[code] as string }, options);
  }
  // A domain that the policy names is no slip.
  if (suggestion !== null && options.allowTypo === false && reason !== "domain")
    return failure({ ...issue, code: "typo", message: `Did you mean ${issue.domain}?` }, options);
  return { value: options.output === "given" ? value : normalized };
}

/** Returns undefined for an address over the 1 MiB that a check takes. */
function check(checker: Checker, email: string, policy: Policy | string = USUAL) {
  try {
    const facts = checker.check(email, { typoSuggestion: "address" });
    return [facts, checker.verdict(email, policy)] as const;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const NOT_TEXT: EmailIssue = {
  code: "not_text",
  message: "The address must be text.",
  path: [],
  reason: null,
  suggestion: null,
  domain: null,
};
const INVALID = { code: "invalid", sentence: "the address is not valid", suggestion: null };
const TOO_LONG: EmailIssue = {
  ...NOT_TEXT,
  code: "address_too_long",
  message: "The address is too long; at most 254 bytes fit.",
};
const BLOCKED = { code: "policy", message: "This address is not accepted; use another one." };

function failure(issue: EmailIssue, { messages }: EmailSchemaOptions): EmailResult {
  return { issues: [{ ...issue, message: translate(issue, messages) }] };
}

function domainOf(address: string | null): string | null {
  return address === null ? null : address.slice(address.lastIndexOf("@") + 1);
}
