import type { Facts as Result } from "../package/index.d.ts";
import {
  type Facts,
  Instance,
  ListsRefused,
  PolicyRefused,
  type Subject,
  TooLong,
  type Versions,
} from "./instance.ts";

/** Checks one address, given as bytes where it may not be UTF-8, with these flags besides the worker's. */
export type Check = (email: string | Uint8Array, flags?: number) => Facts;

/**
 * Checks addresses with one instance of the module, which is enough because
 * JavaScript makes one call at a time. An instance that failed is replaced: after
 * a trap its memory is in an unknown state, even if it would still return results.
 */
export class Engine {
  readonly #module: WebAssembly.Module;
  #instance: Instance | undefined;
  /** The lists in use, for the next instance; undefined for those in the module. */
  #lists: Uint8Array | undefined;

  /** Takes the first instance from a caller that can only create it asynchronously. */
  constructor(module: WebAssembly.Module, first = new WebAssembly.Instance(module, {})) {
    this.#module = module;
    this.#instance = new Instance(first);
  }

  check(email: string | Uint8Array, flags = 0): Facts {
    return this.#call((instance) => instance.check(email, flags));
  }

  /** Returns the result for an address as an object, with details if flags say so. */
  result(email: string | Uint8Array, flags: number): Result {
    return this.#call((instance) => instance.result(email, flags));
  }

  /** Returns the results for addresses in their order. */
  results(emails: readonly (string | Uint8Array)[], flags: number): Result[] {
    const results: Result[] = [];
    while (results.length < emails.length) {
      const some = this.#call((instance) => instance.results(emails, results.length, flags));
      results.push(...some); // at most 4,096: empty addresses in BULK_BYTES
    }
    return results;
  }

  /**
   * Returns the verdict of a policy as UTF-8 JSON; found is a sum of FOUND. Throws PolicyRefused
   * if the document is none.
   */
  verdict(policy: string, subject: Subject, found = 0): Uint8Array<ArrayBuffer> {
    return this.#call((instance) => instance.verdict(policy, subject, found));
  }

  versions(): Versions {
    return this.#call((instance) => instance.versions());
  }

  /**
   * Replaces the lists by a blob, which the caller must not change afterwards. It
   * takes effect at once: a call of check sees either lists. Throws ListsRefused,
   * and keeps the lists, if the module does not accept the blob.
   */
  setLists(blob: Uint8Array): void {
    this.#call((instance) => instance.setLists(blob));
    this.#lists = blob;
  }

  #call<T>(use: (instance: Instance) => T): T {
    if (this.#instance === undefined) {
      const instance = new Instance(new WebAssembly.Instance(this.#module, {}));
      if (this.#lists !== undefined) instance.setLists(this.#lists);
      this.#instance = instance;
    }
    try {
      return use(this.#instance);
    } catch (error) {
      const harmless = [TooLong, ListsRefused, PolicyRefused].some((kind) => error instanceof kind);
      if (!harmless) this.#instance = undefined;
      throw error;
    }
  }
}
