// Uses the package in workerd.

import { work } from "./work.mjs";

export default {
  async fetch(request) {
    const query = new URL(request.url).searchParams;
    return Response.json(await work(query.get("url") ?? undefined, query.get("key")));
  },
};
