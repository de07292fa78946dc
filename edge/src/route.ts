/** Maps requests to routes: a table of the paths that the worker serves. */

import { problem, problemResponse } from "./problem.ts";
import { SENTENCES } from "./problems.ts";
import type { WorkerResponse } from "./response.ts";
import { split } from "./target.ts";

/** What the worker does with a request. */
export type Route =
  | { readonly to: "single"; readonly encoded: string; readonly query: string }
  | { readonly to: "batch" }
  | { readonly to: "usage"; readonly target: string }
  | { readonly to: "hook"; readonly target: string }
  | { readonly to: "mcp"; readonly target: string }
  | { readonly to: "page"; readonly target: string }
  | { readonly to: "versions" }
  | { readonly to: "response"; readonly response: WorkerResponse };

/**
 * The pages of the origin that the worker forwards (ADDRSPEC_FORWARD): "public" are those for
 * programs, "dashboard" also those for people. Of the latter it is all or none, since each
 * links to the others.
 */
export type Pages = "none" | "public" | "dashboard";

interface Row {
  readonly path: string;
  readonly to: "single" | "batch" | "usage" | "hook" | "mcp" | "versions" | "page";
  /** The methods, without OPTIONS, which every operation has; undefined if the origin decides. */
  readonly methods?: readonly string[];
  /** What may follow the path; by default nothing. */
  readonly suffix?: RegExp;
  /** Whether it is a page for people, which gets the query; other pages ignore it. */
  readonly people?: true;
}

const READ = ["GET", "HEAD"];
const READ_AND_POST = [...READ, "POST"];
const ANY = /^\//;
/** Segments that no URL parser changes: of a few characters, and neither "." nor "..". */
const PLAIN = /^(?:\/(?!\.\.?(?:\/|$))[0-9A-Za-z._-]+)*\/?$/;

/** The form of a hook's name (origin/signuphook). */
const HOOK = /^\/[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/;

/**
 * All paths that the worker serves; any other is 404. A page is one of the
 * origin; `/versions` has the worker's own versions, which the origin has at
 * `/readyz`.
 */
const TABLE: readonly Row[] = [
  { path: "/v1/email", to: "single", methods: READ, suffix: ANY },
  { path: "/v1/emails", to: "batch", methods: ["POST"] },
  { path: "/v1/usage", to: "usage", methods: READ },
  { path: "/v1/hooks", to: "hook", suffix: HOOK },
  { path: "/mcp", to: "mcp", methods: ["POST"] },
  { path: "/versions", to: "versions", methods: READ },
  { path: "/healthz", to: "page", methods: READ },
  { path: "/openapi.json", to: "page", methods: READ },
  { path: "/.well-known/security.txt", to: "page", methods: READ },
  { path: "/", to: "page", methods: READ, people: true },
  ...["/docs", "/assets"].map((path) => forPeople(path, READ)),
  ...["/sign-in", "/sign-up", "/sign-out", "/link", "/confirm", "/dashboard"].map((path) =>
    forPeople(path, READ_AND_POST),
  ),
];

function forPeople(path: string, methods: readonly string[]): Row {
  return { path, to: "page", methods, suffix: PLAIN, people: true };
}

/** Returns the route of a request; target is not decoded. */
export function routeOf(method: string, target: string, pages: Pages): Route {
  const { path, query } = split(target);
  const row = TABLE.find((candidate) => matches(candidate, path));
  if (row === undefined || !isServed(row, pages)) return { to: "response", response: notFound() };
  if (method === "OPTIONS" && isOperation(row)) return { to: "response", response: preflight(row) };
  if (row.methods?.includes(method) === false)
    return { to: "response", response: methodNotAllowed(row) };
  return routeTo(row, path.slice(row.path.length), query);
}

export function notFound(): WorkerResponse {
  return problemResponse(problem("NOT_FOUND", SENTENCES.noPath));
}

function methodNotAllowed(row: Row): WorkerResponse {
  const allow = allowed(row);
  return problemResponse(problem("METHOD_NOT_ALLOWED", SENTENCES.methods(allow), { allow }));
}

function matches({ path, to, suffix }: Row, requested: string): boolean {
  if (requested === path) return to !== "hook";
  if (suffix === undefined || !requested.startsWith(`${path}/`)) return false;
  return suffix.test(requested.slice(path.length));
}

function isServed({ to, people }: Row, pages: Pages): boolean {
  return to !== "page" || pages === "dashboard" || (pages === "public" && !people);
}

function isOperation({ to }: Pick<Row, "to">): boolean {
  return to !== "page" && to !== "versions" && to !== "hook";
}

/** Returns the row's route. The origin gets the row's path and a suffix that matches PLAIN. */
function routeTo({ path, to, people }: Row, suffix: string, query: string): Route {
  switch (to) {
    case "single":
      return { to, encoded: suffix.slice(1), query };
    case "batch":
    case "versions":
      return { to };
    default:
      return { to, target: path + suffix + (people ? query : "") };
  }
}

/** Returns the value of Allow. */
function allowed({ to, methods = [] }: Row): string {
  return (isOperation({ to }) ? [...methods, "OPTIONS"] : methods).join(", ");
}

const PAGE_HEADERS = "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id";
const MCP_HEADERS = `${PAGE_HEADERS}, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id`;

/** Returns the response to a preflight, which carries no key (Fetch standard, section 3.2). */
function preflight(row: Row): WorkerResponse {
  return {
    status: 204,
    body: null,
    headers: {
      Allow: allowed(row),
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": allowed(row),
      "Access-Control-Allow-Headers": row.to === "mcp" ? MCP_HEADERS : PAGE_HEADERS,
      "Access-Control-Max-Age": "86400",
    },
  };
}
