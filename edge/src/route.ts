/**
 * What a request asks for: its target as it was sent, and the table of the paths that the worker
 * serves. An address in a path may contain "//" and "..", which `new URL` would remove, so targets
 * are never parsed as URLs.
 */

import { SENTENCES } from "./problems.ts";
import { type Problem, problemResponse, type WorkerResponse } from "./response.ts";

export interface Route {
  readonly to: "single" | "batch" | "usage" | "hook" | "mcp" | "versions" | "page";
  /** What follows the path of the table, not decoded. */
  readonly suffix: string;
  /** The query, with its question mark. */
  readonly query: string;
  /** The target for the origin: the table's path and suffix, and for people the query. */
  readonly target: string;
}

/**
 * The pages of the origin that the worker forwards (ADDRSPEC_FORWARD): "public" are those for
 * programs, "dashboard" also those for people. Of the latter it is all or none, since each
 * links to the others.
 */
export type Pages = "none" | "public" | "dashboard";

interface Row {
  readonly path: string;
  readonly to: Route["to"];
  /** The methods, without OPTIONS, which every operation has; undefined if the origin decides. */
  readonly methods?: readonly string[];
  /** What may follow the path; by default nothing. */
  readonly suffix?: RegExp;
  /** Whether it is a page for people, which gets the query; other pages ignore it. */
  readonly people?: boolean;
}

const READ = ["GET", "HEAD"];
/** Segments that no URL parser changes: of a few characters, and neither "." nor "..". */
const PLAIN = /^(?:\/(?!\.\.?(?:\/|$))[0-9A-Za-z._-]+)*\/?$/;
/** The form of a hook's name (origin/signuphook). */
const HOOK = /^\/[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/;

const forPeople = (methods: readonly string[]) => (path: string) =>
  ({ path, to: "page", methods, suffix: PLAIN, people: true }) as const;

/**
 * All paths that the worker serves; any other is 404. A page is one of the
 * origin; `/versions` has the worker's own versions, which the origin has at
 * `/readyz`.
 */
const TABLE: readonly Row[] = [
  { path: "/v1/email", to: "single", methods: READ, suffix: /^\// },
  { path: "/v1/emails", to: "batch", methods: ["POST"] },
  { path: "/v1/usage", to: "usage", methods: READ },
  { path: "/v1/hooks", to: "hook", suffix: HOOK },
  { path: "/mcp", to: "mcp", methods: ["POST"] },
  { path: "/versions", to: "versions", methods: READ },
  { path: "/healthz", to: "page", methods: READ },
  { path: "/openapi.json", to: "page", methods: READ },
  { path: "/.well-known/security.txt", to: "page", methods: READ },
  { path: "/", to: "page", methods: READ, people: true },
  { path: "/llms.txt", to: "page", methods: READ, people: true },
  ...["/docs", "/assets"].map(forPeople(READ)),
  ...["/sign-in", "/sign-up", "/sign-out", "/link", "/confirm", "/dashboard"].map(
    forPeople([...READ, "POST"]),
  ),
];

const PAGE_HEADERS = "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id";
const MCP_HEADERS = `${PAGE_HEADERS}, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id`;

/** Returns the route of a request, or the response to one that the table does not have. */
export function routeOf(method: string, target: string, pages: Pages): Route | WorkerResponse {
  const at = target.indexOf("?");
  const [path, query] = at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at)];
  const row = TABLE.find((entry) =>
    path === entry.path
      ? entry.to !== "hook"
      : path.startsWith(`${entry.path}/`) && entry.suffix?.test(path.slice(entry.path.length)),
  );
  if (row === undefined) return notFound();
  const { to, methods = [], people = false } = row;
  if (to === "page" && (pages === "none" || (people && pages !== "dashboard"))) return notFound();
  const isOperation = to !== "page" && to !== "versions" && to !== "hook";
  const allow = [...methods, ...(isOperation ? ["OPTIONS"] : [])].join(", ");
  if (method === "OPTIONS" && isOperation) return preflight(to, allow);
  if (to !== "hook" && !methods.includes(method)) {
    const message = SENTENCES.methods(allow);
    return problemResponse({ code: "METHOD_NOT_ALLOWED", message, allow });
  }
  return { to, suffix: path.slice(row.path.length), query, target: path + (people ? query : "") };
}

export function notFound(): WorkerResponse {
  return problemResponse({ code: "NOT_FOUND", message: SENTENCES.noPath });
}

/** Returns the response to a preflight, which carries no key (Fetch standard, section 3.2). */
function preflight(to: Route["to"], allow: string): WorkerResponse {
  return {
    status: 204,
    body: null,
    headers: {
      Allow: allow,
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": allow,
      "Access-Control-Allow-Headers": to === "mcp" ? MCP_HEADERS : PAGE_HEADERS,
      "Access-Control-Max-Age": "86400",
    },
  };
}

/** Returns the part of an absolute URL after the authority; any other URL is its own target. */
export function targetOf(url: string): string {
  const [, target = url] = /^[a-z]+:\/\/[^/?#]*(.*)$/is.exec(url) ?? [];
  return target === "" ? "/" : target;
}

const MESSAGES = {
  400:
    "The request is not well-formed HTTP (RFC 9112): check the request line, the Host header "
    + "and the length of the body.",
  417:
    "The Expect header asks for something else than 100-continue, the only expectation there is "
    + "(RFC 9110 section 10.1.1); leave it out.",
  431:
    "The request line and headers are over 32 KiB, 100 lines or 500 commas; "
    + "send fewer or shorter headers.",
} as const;

/** Returns the problem of a request that is not well-formed HTTP, such as Node cannot parse. */
export function badRequest(status: keyof typeof MESSAGES): Problem {
  const code = status === 400 ? "INVALID_REQUEST" : "BAD_REQUEST";
  return { code, message: MESSAGES[status], status };
}

/**
 * Visible ASCII, and other characters, which not every platform encodes, in the origin-form of
 * RFC 9112 section 3.2.1.
 */
const ORIGIN_FORM = /^\/[!-~\u0080-\uffff]*$/;
/**
 * Host and port in RFC 3986 section 3.2, without a comma, which joins two fields. Platforms put
 * the host before the target, so that "a/healthz?" would change the path.
 */
const HOST = /^[0-9A-Za-z.:[\]_~%!$&'()*+;=-]*$/;

/**
 * Returns the problem with the target, Host or Expect; undefined if there is none. Platforms refuse
 * most such requests before the worker sees them, each with its own response.
 */
export function malformed(target: string, headers: Headers): Problem | undefined {
  const expectation = headers.get("Expect") ?? "";
  if (!ORIGIN_FORM.test(target) || !HOST.test(headers.get("Host") ?? "")) return badRequest(400);
  return expectation === "" || /^100-continue$/i.test(expectation) ? undefined : badRequest(417);
}

/**
 * Percent-decodes once (RFC 3986 section 2.1); bytes, if there is something to decode,
 * because they may not be UTF-8.
 * Returns undefined if a percent sign is not followed by two hexadecimal digits.
 */
export function percentDecode(encoded: string): string | Uint8Array | undefined {
  if (!encoded.includes("%")) return encoded;
  if (/%(?![0-9A-Fa-f]{2})/.test(encoded)) return undefined;
  const bytes = new TextEncoder().encode(encoded);
  let end = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === 0x25) {
      bytes[end++] = Number.parseInt(String.fromCharCode(...bytes.subarray(i + 1, i + 3)), 16);
      i += 2;
    } else {
      bytes[end++] = bytes[i] ?? 0; // i is in range
    }
  }
  return bytes.subarray(0, end);
}

/** What a path segment may have as it is (RFC 3986 section 3.3), without the apostrophe. */
const SEGMENT = /[0-9A-Za-z._~!$&()*+,;=:@-]/;

/** Percent-encodes a segment of a path, in which no URL parser changes anything. */
function percentEncode(segment: string | Uint8Array): string {
  const bytes = typeof segment === "string" ? new TextEncoder().encode(segment) : segment;
  return Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return SEGMENT.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/**
 * Returns the parameters of a query with a name, as they were sent. As at the origin, nothing is
 * percent-decoded and other parameters are ignored.
 */
export function parameters(query: string, name: string): string[] {
  const all = query.slice(1).split("&");
  return all.filter((parameter) => parameter === name || parameter.startsWith(`${name}=`));
}

/**
 * Returns the target that asks the origin for a single validation, in a form that fetch does not
 * change.
 */
export function singleTarget(email: string | Uint8Array, query: string): string {
  const segment = percentEncode(email);
  // fetch would remove a dot segment. Three dots are none, and are no address for the same reason;
  // only the offset in the details differs.
  const path = segment === "." || segment === ".." ? "..." : segment;
  const kept = [...parameters(query, "details"), ...parameters(query, "policy")].join("&");
  return `/v1/email/${path}${kept === "" ? "" : `?${kept.replaceAll("#", "%23")}`}`;
}
