/**
 * Refuses requests that are not well-formed HTTP. Platforms refuse most of them
 * before the worker sees them, each with its own response. Here is the rest, and
 * what entry/node.ts sends on a connection that Node cannot parse.
 */

import { type Problem, problem } from "./problem.ts";
import { isHost, isOriginForm } from "./target.ts";

const MESSAGES = {
  400:
    "The request is not well-formed HTTP (RFC 9112): check the request line, the Host header "
    + "and the length of the body.",
  417:
    "The Expect header asks for something else than 100-continue, the only expectation there is "
    + "(RFC 9110 section 10.1.1); leave it out.",
  431: "The request line and headers are over 64 KiB; send fewer or shorter headers.",
} as const;

export function badRequest(status: keyof typeof MESSAGES): Problem {
  const code = status === 400 ? "INVALID_REQUEST" : "BAD_REQUEST";
  return problem(code, MESSAGES[status], { status });
}

/** Returns the problem with the target, Host or Expect; undefined if there is none. */
export function malformed(target: string, headers: Headers): Problem | undefined {
  const expectation = headers.get("Expect") ?? "";
  if (!isOriginForm(target) || !isHost(headers.get("Host") ?? "")) return badRequest(400);
  return expectation === "" || /^100-continue$/i.test(expectation) ? undefined : badRequest(417);
}
