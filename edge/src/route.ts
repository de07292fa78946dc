/** The paths that the worker knows, and what it does with each. */

import type { Answer } from "./answer.ts";
import { type Code, problem, refuse } from "./problem.ts";
import { SAY } from "./problems.ts";
import { split } from "./target.ts";

/** What a request asks for. */
export type Route =
  | { readonly to: "single"; readonly encoded: string }
  | { readonly to: "batch" }
  | { readonly to: "usage"; readonly target: string }
  | { readonly to: "page"; readonly target: string }
  | { readonly to: "answer"; readonly answer: Answer };

/** Which pages the worker passes on (ADDRSPEC_FORWARD). */
export type Pages = "none" | "public" | "dashboard";

interface Row {
  readonly path: string;
  readonly to: "single" | "batch" | "usage" | "page";
  /** Beside OPTIONS, which every path of an operation takes. */
  readonly methods: readonly string[];
  /** What may follow the path; nothing unless given. */
  readonly below?: RegExp;
  /** Whether the query goes to the origin too; otherwise it says nothing. */
  readonly query?: true;
  readonly dashboard?: true;
}

const READ = ["GET", "HEAD"];
const FORMS = [...READ, "POST"];
const ANYTHING = /^\//;
/** Segments that no URL parser changes: a few characters, and neither "." nor "..". */
const PLAIN = /^(?:\/(?!\.\.?(?:\/|$))[0-9A-Za-z._-]+)*\/?$/;

/**
 * All paths there are; any other is 404. What is not an operation is a page of
 * the origin. `/`, `/docs` and `/assets/`, for the files that those two need,
 * are reserved: the origin does not serve them yet.
 */
const TABLE: readonly Row[] = [
  { path: "/v1/email", to: "single", methods: READ, below: ANYTHING },
  { path: "/v1/emails", to: "batch", methods: ["POST"] },
  { path: "/v1/usage", to: "usage", methods: READ },
  { path: "/healthz", to: "page", methods: READ },
  { path: "/openapi.json", to: "page", methods: READ },
  { path: "/.well-known/security.txt", to: "page", methods: READ },
  { path: "/", to: "page", methods: READ, query: true },
  { path: "/docs", to: "page", methods: READ, query: true },
  { path: "/assets", to: "page", methods: READ, below: PLAIN, query: true },
  { path: "/dashboard", to: "page", methods: FORMS, below: PLAIN, query: true, dashboard: true },
];

/** Finds the route of a request by its target as it was sent. */
export function routeOf(method: string, target: string, pages: Pages): Route {
  const { path, query } = split(target);
  const row = TABLE.find((row) => matches(row, path));
  if (row === undefined || !isServed(row, pages)) return notFound();
  if (method === "OPTIONS" && row.to !== "page") return { to: "answer", answer: preflight(row) };
  if (!row.methods.includes(method))
    return refusal("METHOD_NOT_ALLOWED", SAY.methods(allowed(row)), allowed(row));
  return go(row, path.slice(row.path.length), query);
}

export function notFound(): Route & { to: "answer" } {
  return refusal("NOT_FOUND", SAY.noPath);
}

function matches({ path, below }: Row, asked: string): boolean {
  return (
    asked === path
    || (below !== undefined && asked.startsWith(`${path}/`) && below.test(asked.slice(path.length)))
  );
}

function isServed({ to, dashboard }: Row, pages: Pages): boolean {
  return to !== "page" || pages === "dashboard" || (pages === "public" && !dashboard);
}

/** A target for the origin consists of the table's path and what PLAIN has found good. */
function go({ path, to, query: hasQuery }: Row, rest: string, query: string): Route {
  switch (to) {
    case "single":
      return { to, encoded: rest.slice(1) };
    case "batch":
      return { to };
    default:
      return { to, target: path + rest + (hasQuery ? query : "") };
  }
}

function allowed({ to, methods }: Row): string {
  return (to === "page" ? methods : [...methods, "OPTIONS"]).join(", ");
}

/** The answer to any browser's preflight, which carries no key (Fetch standard, section 3.2). */
function preflight(row: Row): Answer {
  return {
    status: 204,
    body: null,
    headers: {
      Allow: allowed(row),
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": allowed(row),
      "Access-Control-Allow-Headers":
        "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id",
      "Access-Control-Max-Age": "86400",
    },
  };
}

function refusal(code: Code, message: string, allow?: string): Route & { to: "answer" } {
  return {
    to: "answer",
    answer: refuse(problem(code, message, allow === undefined ? {} : { allow })),
  };
}
