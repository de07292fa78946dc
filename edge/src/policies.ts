/**
 * Keeps the policies of recent requests, so that the origin sends a document once for many.
 *
 * Which policy a request has is never decided here: the worker only asks the origin whether
 * the one that a key had last is still in force, and the origin confirms the digest of its
 * document with each request (origin/api/edge.go). So an entry that is old, or of a key with
 * the same checksum, costs a round trip, and no request gets the policy of another account.
 */

/** A policy that decides about a request. */
export interface Policy {
  /** Of the document: SHA-256, in hexadecimal. */
  readonly digest: string;
  readonly document: string;
}

/** The bounds: documents, their UTF-16 units together, and keys with names. */
const MAX_DOCUMENTS = 64;
const MAX_UNITS = 4 << 20;
const MAX_LAST = 1024;

/** The characters of a key's checksum, at its end; a secret is not kept. */
const CHECKSUM = 6;

export class Policies {
  /** By digest; the last used one last. */
  readonly #documents = new Map<string, Policy>();
  /** The digests by checksum of a key and name of a policy; the last used one last. */
  readonly #last = new Map<string, string>();
  #units = 0;

  /** Returns the policy that a request with the key had last; name is undefined for its default. */
  last(key: string, name: string | undefined): Policy | undefined {
    const at = placeOf(key, name);
    const digest = this.#last.get(at);
    const policy = digest === undefined ? undefined : this.#documents.get(digest);
    if (policy !== undefined) {
      moveToEnd(this.#last, at, policy.digest);
      moveToEnd(this.#documents, policy.digest, policy);
    }
    return policy;
  }

  /** Keeps the policy of a request. */
  keep(key: string, name: string | undefined, policy: Policy): void {
    moveToEnd(this.#last, placeOf(key, name), policy.digest);
    if (this.#last.size > MAX_LAST) this.#last.delete(first(this.#last));
    if (!this.#documents.has(policy.digest)) this.#units += policy.document.length;
    moveToEnd(this.#documents, policy.digest, policy);
    while (this.#documents.size > MAX_DOCUMENTS || this.#units > MAX_UNITS) this.#forgetFirst();
  }

  #forgetFirst(): void {
    const digest = first(this.#documents);
    this.#units -= this.#documents.get(digest)?.document.length ?? 0;
    this.#documents.delete(digest);
  }
}

/** Reports whether a policy can have the name. */
export function isPolicyName(name: unknown): name is string {
  return typeof name === "string" && /^[a-z0-9_-]{1,64}$/.test(name);
}

function placeOf(key: string, name = ""): string {
  return key.slice(-CHECKSUM) + name;
}

function moveToEnd<V>(map: Map<string, V>, at: string, value: V): void {
  map.delete(at);
  map.set(at, value);
}

/** Returns the first key of a map that is not empty. */
function first(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value as string;
}
