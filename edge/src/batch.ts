/** POST /v1/emails */

import { decodeBatch } from "./batch-body.ts";
import type { Engine } from "./engine.ts";
import { envelope, type Item } from "./envelope.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import type { Finding } from "./instance.ts";
import { type Domain, type Plan, planRefusal } from "./plan.ts";

/** The most distinct addresses a batch may hold. */
export const MAX_UNIQUE = 64;

/** Decides what to do about the batch in body; start is when its request came, in ms. */
export function planBatch(engine: Engine, flags: number, body: Uint8Array, start: number): Plan {
  const emails = readBatch(body);
  if (isFault(emails)) return planRefusal("batch", emails);
  const findings = emails.map((email) => engine.check(email, flags));
  const domains = domainsOf(findings);
  const places = new Map(domains.map(({ name }, n) => [name, n]));
  return {
    operation: "batch",
    points: findings.length,
    domains,
    finish(mx) {
      const items = findings.map((finding): Item => ({ finding, mx: mx[places.get(finding.host) ?? -1] ?? mxWithout(finding) }));
      return { status: 200, body: envelope(items, Date.now() - start) };
    },
  };
}

/** An address without a domain to ask is finished, any other is not. */
function mxWithout(finding: Finding): false | null {
  return finding.host === "" ? false : null;
}

/** The distinct addresses, each at the place where it first stands. */
function readBatch(body: Uint8Array): string[] | Fault {
  const emails = decodeBatch(body);
  if (isFault(emails)) return emails;
  const distinct = [...new Set(emails)];
  if (distinct.length === 0) {
    return fault("EMPTY_BATCH", 'The batch holds no addresses; send {"emails": ["jane@example.org"]}.');
  }
  if (distinct.length > MAX_UNIQUE) {
    return fault("BATCH_SIZE_EXCEEDED", `The batch holds ${distinct.length} different addresses; at most ${MAX_UNIQUE} are taken at a time.`,
      { detail: { max_allowed: MAX_UNIQUE, received: emails.length } });
  }
  return distinct;
}

function domainsOf(findings: readonly Finding[]): Domain[] {
  const addresses = new Map<string, number>();
  for (const { host } of findings) {
    if (host !== "") addresses.set(host, (addresses.get(host) ?? 0) + 1);
  }
  return Array.from(addresses, ([name, count]) => ({ name, addresses: count }));
}
