/** Plans POST /v1/emails. */

import type { Check } from "./engine.ts";
import { envelope, type Item } from "./envelope.ts";
import { DETAILS, type Facts } from "./instance.ts";
import type { BatchInput } from "./parse-batch.ts";
import type { Plan } from "./plan.ts";
import { count, type Tally } from "./tally.ts";

/** Plans the batch of these distinct addresses; arrival is when its request arrived, in ms. */
export function planBatch(check: Check, { emails, details }: BatchInput, arrival: number): Plan {
  const checked = emails.map((email) => check(email, details ? DETAILS : 0));
  const { domains, tally } = groupByDomain(checked);
  const positions = new Map(domains.map(({ name }, n) => [name, n]));
  return {
    operation: "batch",
    points: checked.length,
    tally,
    domains,
    finish(mx) {
      const items = checked.map(
        (facts): Item => ({
          facts,
          mx: mx[positions.get(facts.host) ?? -1] ?? defaultMX(facts),
        }),
      );
      return { status: 200, body: envelope(items, Date.now() - arrival) };
    },
  };
}

/** Returns the MX if the origin sent none: false without a domain to look up, else unfinished. */
function defaultMX(facts: Facts): false | null {
  return facts.host === "" ? false : null;
}

/** Returns the domains to look up, and the tally of the addresses without one. */
function groupByDomain(checked: readonly Facts[]): Pick<Plan, "domains" | "tally"> {
  const groups = new Map<string, { addresses: number; tally: Tally }>();
  for (const facts of checked) {
    const group = groups.get(facts.host) ?? { addresses: 0, tally: {} };
    groups.set(facts.host, group);
    group.addresses++;
    count(group.tally, facts);
  }
  const tally = groups.get("")?.tally;
  groups.delete("");
  return { tally, domains: Array.from(groups, ([name, group]) => ({ name, ...group })) };
}
