/**
 * What is not well-formed HTTP. Platforms refuse most of it before the worker
 * sees it, each in its own words; this is the rest, and Node's (entry/node.ts).
 */

import { type Problem, problem } from "./problem.ts";
import { isHost, isOriginForm } from "./target.ts";

const SENTENCES = {
  400: "The request is not well-formed HTTP (RFC 9112): check the request line, the Host header and the length of the body.",
  417: "The Expect header asks for something else than 100-continue, the only expectation there is (RFC 9110 section 10.1.1); leave it out.",
  431: "The request line and headers are over 64 KiB; send fewer or shorter headers.",
} as const;

export function notHTTP(status: keyof typeof SENTENCES): Problem {
  return problem("BAD_REQUEST", SENTENCES[status], { status });
}

/** The problem with the target and with what the headers say about the connection; undefined if there is none. */
export function malformed(target: string, headers: Headers): Problem | undefined {
  const expectation = headers.get("Expect") ?? "";
  if (!isOriginForm(target) || !isHost(headers.get("Host") ?? "")) return notHTTP(400);
  return expectation === "" || /^100-continue$/i.test(expectation) ? undefined : notHTTP(417);
}
