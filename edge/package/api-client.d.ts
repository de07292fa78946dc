/**
 * A client of the HTTP API, which also looks up MX records: `addrspec/client`. It sends batches,
 * each with an Idempotency-Key of its own, keeps to the account's rate, and sends again what a
 * rate, an outage or a cut connection has refused, so nothing is paid twice. It does not load the
 * module.
 */

import type { Details, Facts, Verdict } from "./index.js";

/** The facts about an address, with what was asked for. */
export interface Result extends Omit<Facts, "mx"> {
  /** Whether the domain has an MX record that names a host. */
  readonly mx: boolean;
  readonly details?: Details;
  /** If there is a policy. */
  readonly verdict?: Verdict;
}

/** What the service says of one address: a result, or why its MX records could not be looked up. */
export type Item =
  | {
      readonly email: string;
      readonly status: "success";
      readonly result: Result;
      readonly error: null;
    }
  | {
      readonly email: string;
      readonly status: "error";
      readonly result: null;
      readonly error: { readonly code: "DNS_TIMEOUT" | "DNS_FAILURE"; readonly message: string };
    };

/** A response of the API to a batch. */
export interface Batch {
  readonly results: readonly Item[];
}

/** What the account has used and has left. Null is unlimited. */
export interface Usage {
  /** The usage points of this calendar month (UTC). */
  readonly points: {
    readonly used: number;
    readonly limit: number | null;
    readonly remaining: number | null;
    /** Whether used may exceed limit. */
    readonly overage: boolean;
    /** When used becomes 0 (RFC 3339). */
    readonly refill: string;
  };
  /** Requests per second. */
  readonly rate: { readonly limit: number | null; readonly remaining: number | null };
  /** The name of the key's default policy, if it has one. */
  readonly policy?: string;
}

export interface ClientOptions {
  /** How many seconds a request is sent again at most; the default is 60. */
  readonly maxWait?: number;
  /** How many batches are in progress in checkMany; the default is 4. */
  readonly concurrency?: number;
}

export interface CheckOptions {
  /** Whether each result has details. */
  readonly details?: boolean;
  /** The name of one of the account's policies; without it the key's default counts. */
  readonly policy?: string;
  /** Ends the work, also between two attempts. */
  readonly signal?: AbortSignal;
}

/** A response that is no result, or none at all. The message is a sentence for people. */
export class ApiError extends Error {
  override readonly name: string;
  /** Of HTTP; 0 without a response. */
  readonly status: number;
  /** Such as "INVALID_API_KEY", by which programs decide. */
  readonly code: string | null;
  /** With which support finds the request. */
  readonly requestId: string | null;
}

/** The month has too few points left. */
export class PointsUsedUp extends ApiError {
  override readonly name: "PointsUsedUp";
}

export class Client {
  /** `url` is that of the service, `key` an API key. Keys for servers do not belong in a browser. */
  constructor(url: string | URL, key: string, options?: ClientOptions);
  /** Checks one address. An address that is not valid is a result, and costs a point. */
  check(email: string, options?: CheckOptions): Promise<Item>;
  /**
   * Checks any number of addresses, and yields an item for each in order. An address costs a
   * point for each batch of 64 that has it. An ApiError ends the iteration; the items before it
   * have been yielded. To stop early, leave the loop.
   */
  checkMany(
    emails: Iterable<string> | AsyncIterable<string>,
    options?: CheckOptions,
  ): AsyncGenerator<Item, void, void>;
  /** Returns the points and the rate of the account, which costs no point. */
  usage(options?: { readonly signal?: AbortSignal }): Promise<Usage>;
}
