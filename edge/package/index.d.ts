/** Checks email addresses offline, with one WebAssembly module. */

/**
 * The result of a check: the 16 fields that every host of addrspec returns, in
 * this order. `mx` is null, because the package does not query DNS.
 */
export interface Facts {
  /** The address as given. */
  readonly email: string;
  /**
   * Whether it is an addr-spec (RFC 5322 section 3.4.1, RFC 6531) that mail can
   * carry (RFC 5321 section 4.5.3.1).
   */
  readonly valid: boolean;
  /** Lower case, Unicode NFC, without comments and unnecessary quotes; null unless valid. */
  readonly normalized: string | null;
  /** The part before the @; null unless valid. */
  readonly local_part: string | null;
  /** Whether the local part has a plus tag with text before it. */
  readonly alias: boolean;
  /** Whether every byte is ASCII. */
  readonly ascii: boolean;
  /** The category of a role account; otherwise null. */
  readonly role:
    | "Admin"
    | "Support"
    | "Sales"
    | "Marketing"
    | "General"
    | "NoReply"
    | "Billing"
    | "Legal"
    | "IT"
    | "HR"
    | null;
  /** Whether gibberish_score is 0.5 or more. */
  readonly gibberish: boolean;
  /** The probability, 0 to 1, that the local part is random, calibrated to a form where 5 % are. */
  readonly gibberish_score: number;
  /** The part after the @, in lower case; null unless valid. */
  readonly domain: string | null;
  /**
   * Null, because the package does not query DNS; false if there is no domain to look up:
   * for an address that is not valid and for an address literal.
   */
  readonly mx: false | null;
  /** Whether the domain is a known disposable provider. */
  readonly disposable: boolean;
  /** Whether anyone can open a mailbox at the domain. */
  readonly public: boolean;
  /** Whether the domain belongs to a forwarding service that hides the real mailbox. */
  readonly relay: boolean;
  /** Whether the domain looks like a misspelling of a common provider. */
  readonly typo: boolean;
  /** The corrected domain, or with an option the corrected address; null unless typo. */
  readonly typo_suggestion: string | null;
}

/** Why an address is not valid. */
export interface Refusal {
  /** A stable code, such as "local_part_too_long". */
  readonly code: string;
  /** The section of the standard, such as "RFC 5321 section 4.5.3.1.1". */
  readonly section: string;
  /** What is wrong and how to correct it, without a full stop. */
  readonly sentence: string;
  /** The index of the offending byte of the address in UTF-8. */
  readonly offset: number;
  /** The address that is meant, if exactly one certain correction makes it valid. */
  readonly suggestion: string | null;
}

/** What made an address a role account. */
export interface RoleEvidence {
  /** The role word, or the host that takes no mail. */
  readonly word: string;
  /**
   * How the local part has the word: as a word of its own, with separators in it, glued to a
   * qualifier, or after another word. "host" if the domain takes no mail by design.
   */
  readonly match: "word" | "separated" | "glued" | "part" | "host";
  /** The other words: numbers, regions, languages, departments. */
  readonly qualifiers: readonly string[];
}

/** The entry of the lists that matched a domain. */
export interface ProviderEvidence {
  /** The domain, or the parent that has the entry. */
  readonly entry: string;
  /** "no_mail" is a host that takes no mail by design, "known" a domain in use, "unproven" gives no class. */
  readonly class: "disposable" | "public" | "relay" | "no_mail" | "known" | "unproven";
  /** Whether the entry covers every name below it. */
  readonly subdomains: boolean;
  /** The lists that have the entry. */
  readonly sources: readonly string[];
}

/** How a domain differs from the suggested one. */
export interface TypoEvidence {
  /** The suggested domain. */
  readonly target: string;
  readonly edits: readonly Edit[];
}

/** A slip: a text of the domain was typed in place of another. */
export interface Edit {
  readonly kind:
    | "substitution"
    | "insertion"
    | "deletion"
    | "transposition"
    | "lookalike"
    | "missing_dot"
    | "misplaced_dot"
    | "ending";
  /** Its place in the domain as typed, in characters, with U-labels for A-labels. */
  readonly at: number;
  /** What was typed; may be empty. */
  readonly from: string;
  /** What was meant; may be empty. */
  readonly to: string;
}

/** The host that takes the mail of a domain, in results of a program that asks DNS. */
export interface Exchange {
  /** "own" is the domain's own host; "temporary" belongs to a service of throw-away mailboxes. */
  readonly class:
    | "mailbox"
    | "suite"
    | "gateway"
    | "host"
    | "forward"
    | "relay"
    | "temporary"
    | "parked"
    | "own"
    | "unknown";
  /** Who runs it, such as "Google Workspace"; null if that is not known. */
  readonly provider: string | null;
  /** The row of the table, or the name in the lists, that covers it; null if none does. */
  readonly entry: string | null;
  /** The exchange of the lowest preference; null without MX. */
  readonly host: string | null;
  /**
   * Whether a domain without MX has an address record, to which mail goes; null if it has MX, or
   * if the lookup of that record failed.
   */
  readonly address_record: boolean | null;
}

/** The versions of the module and of what it contains. */
export interface Versions {
  readonly engine: string;
  readonly lists: string;
  readonly model: string;
}

/** Why a result is so. */
export interface Details {
  /** Why the address is not valid; null if it is. */
  readonly refusal: Refusal | null;
  /**
   * The identity of the mailbox under its provider's published rules: normalized without what
   * the provider ignores, such as dots and tags at Gmail. Equal values prove the same mailbox,
   * different ones prove nothing. Equals normalized where no rule is known; null unless valid.
   */
  readonly canonical: string | null;
  /** The name of the rule, such as "gmail"; null if none is known for the domain. */
  readonly canonical_rule: string | null;
  /** What made the address a role account; null if role is. */
  readonly role_evidence: RoleEvidence | null;
  /** The entry of the lists that matched the domain; null if there is none. */
  readonly provider_evidence: ProviderEvidence | null;
  /** How the domain differs from the suggested one; null unless typo. */
  readonly typo_evidence: TypoEvidence | null;
  readonly versions: Versions;
  /** What is unusual about the form of a valid address; empty for most. */
  readonly form: readonly (
    | "quoted"
    | "comment"
    | "literal"
    | "single_label"
    | "unknown_tld"
    | "special_use"
    | "generated"
    | "odd_character"
    | "looks_disposable"
    | "mailbox_form"
  )[];
  /** Null, because the package does not query DNS. The HTTP API looks it up. */
  readonly exchange: Exchange | null;
}

/** A result with the member details. */
export interface DetailedFacts extends Facts {
  readonly details: Details;
}

export interface Options {
  /** What typo_suggestion contains; the default is "domain". */
  readonly typoSuggestion?: "domain" | "address";
  /** Whether the result has the member details; the default is false. */
  readonly details?: boolean;
}

/** Options of a check with details. */
export interface DetailsOptions extends Options {
  readonly details: true;
}

/** An address of at most 1 MiB; bytes where it may not be UTF-8. */
export type Address = string | Uint8Array;

/** The type of a global class; never where the types of a project lack it, as Node's lack WebAssembly. */
type Global<Name extends string> =
  typeof globalThis extends Record<Name, { prototype: infer T }> ? T : never;
type Module =
  typeof globalThis extends Record<"WebAssembly", { Module: { prototype: infer T } }> ? T : never;

/** Where a module comes from: `addrspec.wasm`, or what it was compiled to. */
export type Source = ArrayBuffer | ArrayBufferView | Global<"Response"> | Module | Global<"URL">;

/** What a member of a policy names: `x` covers x alone, `*.x` x and every name below it. */
export interface PolicyDomains {
  readonly domains?: readonly string[];
  /** Addresses: each covers all that have the same `canonical`. */
  readonly addresses?: readonly string[];
  /** Names of exchanges, which decide if they cover all exchanges of the domain. */
  readonly exchanges?: readonly string[];
}

export interface PolicyRules extends PolicyDomains {
  /** Such as "disposable", "role:marketing", "gibberish>=0.8" or "no_mx". */
  readonly reasons?: readonly string[];
}

/** Turns facts into a verdict. At most 10,000 domains, addresses and exchanges, and 64 KiB besides. */
export interface Policy {
  readonly allow?: PolicyDomains;
  readonly block?: PolicyRules;
  readonly review?: PolicyRules;
}

/** Thrown when a document is no policy. The message is the place, ": ", and what is wrong there. */
export class PolicyRefused extends Error {
  constructor(message: string, offset: number);
  /** Such as "block.reasons[2]", or "line 3, column 7" if the document is no JSON. */
  readonly place: string;
  /** Of the place in the document's text, in bytes of UTF-8. */
  readonly offset: number;
}

/** What a policy decides about an address. */
export interface Verdict {
  readonly action: "allow" | "review" | "block";
  /** Such as "disposable", "domain", "address" or "invalid"; null if no rule applied. */
  readonly reason: string | null;
  /** Its place in the policy, such as "block.reasons[1]", or null. */
  readonly rule: string | null;
}

/** What you have looked up. A reason or an entry that needs a member that is missing or null is skipped. */
export interface Found {
  /** Whether the domain has MX records. */
  readonly mx?: boolean | null;
  /** Whether it has an address record to which mail goes without them. */
  readonly addressRecord?: boolean | null;
  /** Whether all its exchanges are those of throw-away services. */
  readonly disposable?: boolean | null;
  /** The names of its exchanges in lower case, with "*" for those that are left out. */
  readonly exchanges?: readonly string[] | null;
}

/**
 * A loaded module; its methods return at once. They throw a TypeError that names an
 * argument of a wrong type, and a RangeError for an address over 1 MiB.
 */
export interface Checker {
  /** Checks an address. One that is not valid is a result, not an error. */
  check(email: Address, options: DetailsOptions): DetailedFacts;
  check(email: Address, options?: Options): Facts;
  /** Checks many addresses in few calls of the module; the results are in their order. */
  checkMany(emails: Iterable<Address>, options: DetailsOptions): DetailedFacts[];
  checkMany(emails: Iterable<Address>, options?: Options): Facts[];
  /** Returns why the result of check is so: its details. */
  explain(email: Address): Details;
  /**
   * Returns the verdict of a policy, an object or its JSON text. Throws PolicyRefused if the
   * document is no policy.
   */
  verdict(email: Address, policy: Policy | string, found?: Found): Verdict;
  /** Returns the verdicts on many addresses, in their order, without lookups. */
  verdictMany(emails: Iterable<Address>, policy: Policy | string): Verdict[];
  versions(): Versions;
  /**
   * Replaces the lists of providers and words at once, by the bytes of another
   * `lists.blob`. Throws if the module refuses them, and keeps its lists. Nothing
   * else is checked: for lists from a network, use `addrspec/lists`.
   */
  setLists(blob: Uint8Array): void;
}

/**
 * Loads the module of the package; all such calls share one load. With a source it starts
 * a checker of its own with that module.
 */
export function load(source?: Source): Promise<Checker>;

/** Checks an address. The first call loads the module. */
export function check(email: Address, options: DetailsOptions): Promise<DetailedFacts>;
export function check(email: Address, options?: Options): Promise<Facts>;

/** Checks many addresses in few calls of the module; the results are in their order. */
export function checkMany(
  emails: Iterable<Address>,
  options: DetailsOptions,
): Promise<DetailedFacts[]>;
export function checkMany(emails: Iterable<Address>, options?: Options): Promise<Facts[]>;

/** Returns why the result of check is so: its details. */
export function explain(email: Address): Promise<Details>;

/** Returns the verdict of a policy on an address; see Checker.verdict. */
export function verdict(email: Address, policy: Policy | string, found?: Found): Promise<Verdict>;

/** Returns the verdicts of a policy on many addresses; see Checker.verdictMany. */
export function verdictMany(emails: Iterable<Address>, policy: Policy | string): Promise<Verdict[]>;

/** Replaces the lists of all later calls; see Checker.setLists. */
export function setLists(blob: Uint8Array): Promise<void>;
