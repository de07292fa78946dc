/** Plans POST /v1/emails. */

import type { Check } from "./engine.ts";
import { envelope, type Item } from "./envelope.ts";
import { DETAILS, type Facts, isClassed } from "./instance.ts";
import type { BatchInput } from "./parse-batch.ts";
import type { Lookup, Plan } from "./plan.ts";
import { count, type Tally } from "./tally.ts";

/** Plans the batch of these distinct addresses; arrival is when its request arrived, in ms. */
export function planBatch(
  check: Check,
  { emails, details, policy }: BatchInput,
  arrival: number,
): Plan {
  const checked = emails.map((email) => check(email, details ? DETAILS : 0));
  const { domains, tally } = groupByDomain(checked);
  const positions = new Map(domains.map(({ name }, n) => [name, n]));
  return {
    operation: "batch",
    points: checked.length,
    tally,
    domains,
    details: details || undefined,
    policy,
    finish(lookups, decide) {
      const items = checked.map(
        (facts): Item => ({
          facts,
          lookup: lookups[positions.get(facts.host) ?? -1] ?? defaultLookup(facts),
        }),
      );
      return { status: 200, body: envelope(items, Date.now() - arrival, decide) };
    },
  };
}

/** Returns the lookup if the origin sent none: no MX without a domain to look up, else unfinished. */
function defaultLookup(facts: Facts): Lookup {
  return { mx: facts.host === "" ? false : null };
}

/** Returns the domains to look up, and the tally of the addresses without one. */
function groupByDomain(checked: readonly Facts[]): Pick<Plan, "domains" | "tally"> {
  const groups = new Map<string, { addresses: number; classed?: true | undefined; tally: Tally }>();
  for (const facts of checked) {
    const classed = isClassed(facts) || undefined; // alike for all addresses at a domain
    const group = groups.get(facts.host) ?? { addresses: 0, classed, tally: {} };
    groups.set(facts.host, group);
    group.addresses++;
    count(group.tally, facts);
  }
  const tally = groups.get("")?.tally;
  groups.delete("");
  return { tally, domains: Array.from(groups, ([name, group]) => ({ name, ...group })) };
}
