// Uses the package in workerd.

import { results } from "./results.mjs";
import { update } from "./update.mjs";

export default {
  async fetch(request) {
    const { searchParams: query } = new URL(request.url);
    const work = query.has("url") ? update(query.get("url"), query.get("key")) : results();
    return Response.json(await work);
  },
};
