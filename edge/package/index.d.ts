/** Offline facts about email addresses, stated by one WebAssembly module. */

/**
 * The 16 fields that every host of addrspec answers with, in this order. `mx`
 * is false: nothing here asks DNS.
 */
export interface Facts {
  /** The address as given. */
  readonly email: string;
  /** It is an addr-spec (RFC 5322 section 3.4.1, RFC 6531) that mail can carry (RFC 5321 section 4.5.3.1). */
  readonly valid: boolean;
  /** Lower case, Unicode NFC, without comments and needless quotes; null unless valid. */
  readonly normalized: string | null;
  /** What stands before the @; null unless valid. */
  readonly local_part: string | null;
  /** The local part has a plus tag with text before it. */
  readonly alias: boolean;
  /** Every octet is ASCII. */
  readonly ascii: boolean;
  /** Category of a role account. */
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
  /** gibberish_score is 0.5 or more. */
  readonly gibberish: boolean;
  /** Calibrated probability, 0 to 1, that the local part is random. */
  readonly gibberish_score: number;
  /** What stands after the @, lower case; null unless valid. */
  readonly domain: string | null;
  /** Always false here. */
  readonly mx: boolean;
  /** The domain is a known throw-away provider. */
  readonly disposable: boolean;
  /** Anybody can open a mailbox at the domain. */
  readonly public: boolean;
  /** The domain belongs to a forwarding service that hides the real mailbox. */
  readonly relay: boolean;
  /** The domain looks like a misspelling of a common provider. */
  readonly typo: boolean;
  /** The domain that was meant, or the whole address where options say so. */
  readonly typo_suggestion: string | null;
}

/** Why an address is not valid. */
export interface Refusal {
  /** Stable, such as "local_part_too_long". */
  readonly code: string;
  /** The norm it rests on, such as "RFC 5321 section 4.5.3.1.1". */
  readonly section: string;
  /** What is wrong and how to mend it, without a full stop. */
  readonly sentence: string;
  /** The offending octet of the address in UTF-8, counted from 0. */
  readonly offset: number;
}

/** Which versions answer. */
export interface Versions {
  readonly engine: string;
  readonly lists: string;
  readonly model: string;
}

export interface Options {
  /** What typo_suggestion holds; "domain" unless given. */
  readonly typoSuggestion?: "domain" | "address";
}

/** A loaded module; its answers come at once. */
export interface Checker {
  /** States the facts about an address of at most 1 MiB. */
  check(email: string, options?: Options): Facts;
  /** Says why an address is not valid; null for one that is. */
  explain(email: string): Refusal | null;
  versions(): Versions;
}

/** Loads the module; once, however often it is called. */
export function load(): Promise<Checker>;

/** States the facts about an address; loads the module before the first. */
export function check(email: string, options?: Options): Promise<Facts>;

/** Says why an address is not valid; null for one that is. */
export function explain(email: string): Promise<Refusal | null>;
