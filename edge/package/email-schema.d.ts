/**
 * An email address as a Standard Schema (https://standardschema.dev), version 1, for the
 * forms and validators that take one: `addrspec/schema`.
 */

import type { Checker, Policy } from "./index.js";

/** Why an address is not accepted. */
export interface EmailIssue {
  /**
   * The code of a refusal, such as "local_part_two_dots", for an address that is not valid;
   * "single_label", "unknown_tld", "literal", "comment", "quoted" or "arpa" for one that is, but
   * that a schema without a policy refuses; "typo"; "policy"; or "not_text" for a value that is no
   * string.
   */
  readonly code: string;
  /** A sentence for the person who typed it. It never contains the address. */
  readonly message: string;
  /** Empty: the issue is about the value itself. What contains the schema adds its own path. */
  readonly path: readonly PropertyKey[];
  /** Of "policy", the verdict's reason, such as "disposable"; otherwise null. */
  readonly reason: string | null;
  /**
   * The corrected address, such as "jane@gmail.com", if the domain looks misspelled, or if the
   * address is not valid and exactly one certain correction makes it so.
   */
  readonly suggestion: string | null;
  /** The domain of the suggestion. */
  readonly domain: string | null;
}

/** A text, in which `{domain}`, `{suggestion}` and `{reason}` are replaced, or what returns it. */
export type Message = string | ((issue: EmailIssue) => string);

/**
 * Texts in place of the English ones: by code, with "invalid" for every refusal that has no
 * text of its own, or a function, which finds the English text in the issue.
 */
export type Messages = ((issue: EmailIssue) => string) | { readonly [code: string]: Message };

export interface EmailSchemaOptions {
  /**
   * Addresses that it blocks are not accepted. Those to review are. It alone decides: with `{}`
   * every valid address is accepted, without one those that people type into a form.
   */
  readonly policy?: Policy | string | undefined;
  /** Whether a domain that looks misspelled is accepted; the default is true. */
  readonly allowTypo?: boolean | undefined;
  /** Whether the value is the normal form of the address, as by default, or what was typed. */
  readonly output?: "normalized" | "given" | undefined;
  readonly messages?: Messages | undefined;
  /**
   * A checker, for results at once. Without it the first result is a promise, and later ones
   * are values, because the module is loaded by the first.
   */
  readonly checker?: Checker | undefined;
}

export type EmailResult =
  | { readonly value: string; readonly issues?: undefined }
  | { readonly issues: readonly EmailIssue[] };

export interface EmailSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "addrspec";
    /**
     * Throws, or rejects with, PolicyRefused if the policy is none, and rejects if the module
     * cannot be loaded.
     */
    readonly validate: (value: unknown) => EmailResult | Promise<EmailResult>;
    /** Only for types: never there. */
    readonly types?: { readonly input: string; readonly output: string } | undefined;
  };
}

/** Returns the schema. An option that does not exist is a TypeError. */
export function emailSchema(options?: EmailSchemaOptions): EmailSchema;

/** Returns the text of messages for an issue; the issue's own if they have none. */
export function translate(issue: EmailIssue, messages?: Messages): string;
