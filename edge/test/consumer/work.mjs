// What a consumer does: work(), work("schema") or work(FEED, KEY).

import { results } from "./results.mjs";
import { schemaResults } from "./schema.mjs";
import { update } from "./update.mjs";

export function work(what, key) {
  if (what === undefined) return results();
  return what === "schema" ? schemaResults() : update(what, key);
}
