/** POST /v1/emails */

import type { Engine } from "./engine.ts";
import { envelope, type Item } from "./envelope.ts";
import type { Finding } from "./instance.ts";
import type { Plan } from "./plan.ts";
import { count, type Tally } from "./tally.ts";

/** Plans the batch of distinct addresses; start is when its request arrived, in ms. */
export function planBatch(
  engine: Engine,
  flags: number,
  emails: readonly string[],
  start: number,
): Plan {
  const findings = emails.map((email) => engine.check(email, flags));
  const { domains, tally } = groupByDomain(findings);
  const positions = new Map(domains.map(({ name }, n) => [name, n]));
  return {
    operation: "batch",
    points: findings.length,
    tally,
    domains,
    finish(mx) {
      const items = findings.map(
        (finding): Item => ({
          finding,
          mx: mx[positions.get(finding.host) ?? -1] ?? mxWithout(finding),
        }),
      );
      return { status: 200, body: envelope(items, Date.now() - start) };
    },
  };
}

/** The MX without a reply of the origin: false for an address that has no domain to ask, else unfinished. */
function mxWithout(finding: Finding): false | null {
  return finding.host === "" ? false : null;
}

/** The domains to ask, and the tally of the addresses without one. */
function groupByDomain(findings: readonly Finding[]): Pick<Plan, "domains" | "tally"> {
  const groups = new Map<string, { addresses: number; tally: Tally }>();
  for (const finding of findings) {
    let group = groups.get(finding.host);
    if (group === undefined) groups.set(finding.host, (group = { addresses: 0, tally: {} }));
    group.addresses++;
    count(group.tally, finding);
  }
  const tally = groups.get("")?.tally;
  groups.delete("");
  return { tally, domains: Array.from(groups, ([name, group]) => ({ name, ...group })) };
}
