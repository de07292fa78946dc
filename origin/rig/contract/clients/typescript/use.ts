// Uses the types that openapi-typescript makes of openapi.json, through
// openapi-fetch, and prints typed members of the responses.

import createClient from "openapi-fetch";
import type { components, paths } from "./addrspec.js";

const baseUrl = process.env.ADDRSPEC_URL ?? "";

function connect(key: string | undefined) {
  return createClient<paths>({ baseUrl, headers: key ? { "X-API-Key": key } : {} });
}

type Client = ReturnType<typeof connect>;
type Item = components["schemas"]["Item"];

async function single(client: Client): Promise<void> {
  const get = (email: string) => client.GET("/v1/email/{email}", { params: { path: { email } } });
  const jane = await get("jane.doe@mail.example");
  console.log(`single ${jane.data?.normalized} mx=${jane.data?.mx} role=${jane.data?.role}`);
  const info = await get("info@mail.example");
  console.log(`role ${info.data?.role}`);
  const { error } = await get("jane.@mail.example");
  if (error !== undefined && "code" in error && error.code === "INVALID_EMAIL_FORMAT") {
    const status: 400 = error.status;
    console.log(`invalid ${status} ${error.code}`);
  }
}

async function batch(client: Client): Promise<void> {
  const emails = ["jane@mail.example", "jane.@mail.example", "jane@servfail.example"];
  const { data } = await client.POST("/v1/emails", { body: { emails } });
  if (data === undefined) throw new Error("the batch failed");
  const b: components["schemas"]["Batch"] = data;
  console.log(
    `batch total=${b.total} valid=${b.valid_count} invalid=${b.invalid_count} errors=${b.error_count} points=${b.usage_points}`,
  );
  for (const item of b.results.slice(1)) console.log(`item ${item.email} ${item.status} ${facts(item)}`);
}

function facts(item: Item): string {
  return item.result === null ? `${item.error?.code}` : `normalized=${item.result.normalized}`;
}

async function usage(client: Client): Promise<void> {
  const { data, response } = await client.GET("/v1/usage");
  if (Number(response.headers.get("X-Usage-Current")) !== data?.points.used) {
    throw new Error("body and headers differ");
  }
  console.log(`usage used=${data?.points.used} limit=${data?.points.limit}`);
}

async function problems(): Promise<void> {
  const path = { email: "jane@mail.example" };
  const denied = await connect(undefined).GET("/v1/email/{email}", { params: { path } });
  if (denied.error !== undefined && "code" in denied.error) {
    console.log(`no key ${denied.error.status} ${denied.error.code}`);
  }
  const poor = connect(process.env.ADDRSPEC_POOR_KEY);
  const refused = await poor.POST("/v1/emails", { body: { emails: ["a@mail.example", "b@mail.example"] } });
  if (refused.error !== undefined && "success" in refused.error && refused.error.error.code === "INSUFFICIENT_USAGE") {
    const p = refused.error.error;
    console.log(`too few points ${refused.response.status} ${p.code} required=${p.required} remaining=${p.remaining}`);
  }
  const late = await poor.GET("/v1/email/{email}", { params: { path } });
  if (late.error !== undefined && "title" in late.error) {
    console.log(`too few points ${late.error.status} ${late.error.title}`);
  }
}

const client = connect(process.env.ADDRSPEC_KEY);
await single(client);
await batch(client);
await usage(client);
await problems();
