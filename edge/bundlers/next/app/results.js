import { checkMany } from "addrspec";

/** Checks the addresses in the body of a request. */
export async function results(request) {
  const facts = await checkMany(await request.json());
  return new Response(facts.map((result) => `${JSON.stringify(result)}\n`).join(""));
}
