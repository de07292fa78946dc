import { type Fault, fault } from "./fault.ts";
import { isBroken, pathOf } from "./target.ts";

/** What a request asks for. */
export type Route =
  | { readonly to: "single"; readonly encoded: string }
  | { readonly to: "batch" }
  | { readonly to: "origin" }
  | { readonly to: "refuse"; readonly fault: Fault };

const SINGLE = "/v1/email";
const BATCH = "/v1/emails";

/** Paths that are never forwarded: for the operator, and the endpoint of the workers. */
const PRIVATE = new Set(["/metrics", "/readyz", "/v1/edge/admit"]);

/** Finds the route of a request by its target as it was sent. */
export function routeOf(method: string, target: string, forward: boolean): Route {
  const path = pathOf(target);
  if (isBroken(path)) {
    return refusal(fault("BAD_REQUEST", "The request is not well-formed HTTP, or its path has a percent sign "
      + "that is not followed by two hexadecimal digits (write %25)."));
  }
  if (path === SINGLE || path.startsWith(`${SINGLE}/`)) {
    return method === "GET" ? { to: "single", encoded: path.slice(SINGLE.length + 1) } : wrongMethod("GET");
  }
  if (path === BATCH) return method === "POST" ? { to: "batch" } : wrongMethod("POST");
  if (forward && !PRIVATE.has(path)) return { to: "origin" };
  return refusal(fault("NOT_FOUND",
    "There is no such path; the operations are GET /v1/email/{email} and POST /v1/emails."));
}

function wrongMethod(allow: string): Route {
  return refusal(fault("METHOD_NOT_ALLOWED", `This path takes the method ${allow} only.`, { allow }));
}

function refusal(fault: Fault): Route {
  return { to: "refuse", fault };
}
