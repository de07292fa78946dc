/**
 * The entry for Node and Bun, with the settings and LISTEN=HOST:PORT in the
 * environment:
 *
 *     node node.js
 *     bun --max-http-header-size=65536 node.js
 *
 * Bun.serve would clean "//" and ".." out of the path, which holds an address;
 * its node:http does not.
 */

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { render, respond } from "../src/answer.ts";
import { notHTTP } from "../src/bad-request.ts";
import { readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { listenOf, welcome } from "../src/listen.ts";
import { refuse } from "../src/problem.ts";
import { requestID } from "../src/request-id.ts";
import { type Asked, Worker } from "../src/worker.ts";
import { bodyOf } from "./node-body.ts";

const engine = new Engine(
  new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url))),
);
const log = (message: string) => console.error(message);
const worker = new Worker({
  engine,
  config: readConfig(process.env),
  fetch: (url, init) => fetch(url, init),
  log,
});
const { hostname, port } = listenOf(process.env);

// The limits of the origin: 64 KiB of header, 5 s for it, 15 s for all of a request.
const limits = { maxHeaderSize: 64 << 10, headersTimeout: 5_000, requestTimeout: 15_000 };
const server = createServer({ ...limits, requireHostHeader: false }, serve);
server.on("checkExpectation", serve);
server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) =>
  hangUp(socket, code === "HPE_HEADER_OVERFLOW" ? 431 : 400),
);
server.on("connect", (_, socket) => hangUp(socket, 400));
server.listen(port, hostname, () =>
  console.log(welcome(hostname, (server.address() as AddressInfo).port)),
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => server.close());

function serve(request: IncomingMessage, response: ServerResponse): void {
  answer(request, response).catch(() => response.destroy()); // the caller is gone
}

/** Whether there is one Host, as there must be since HTTP/1.1 (RFC 9112 section 3.2). */
function hasHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && name.toLowerCase() === "host").length;
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { status, headers, body } = hasHost(request)
    ? await worker.answer(asked(request, gone.signal))
    : respond(refuse(notHTTP(400)), requestID(null));
  response.writeHead(status, [...headers].flat());
  if (body === null || request.method === "HEAD") response.end();
  else await pipeline(Readable.fromWeb(body as NodeStream), response);
}

function asked(request: IncomingMessage, signal: AbortSignal): Asked {
  const headers = new Headers();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
    headers.append(request.rawHeaders[i]!, request.rawHeaders[i + 1]!);
  const method = request.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(request);
  // Node reads the request line as Latin-1; its bytes stay as they were sent.
  const target = (request.url ?? "").replace(
    /[\x80-\xff]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return { method, target, headers, body, signal, proto: "http" };
}

/** Answers what is not HTTP with the contract's problem, and ends the connection. */
function hangUp(socket: Duplex, status: 400 | 431): void {
  socket.on("error", () => undefined); // the caller is gone
  if (!socket.writable) return;
  const { headers, body } = render(refuse(notHTTP(status)), requestID(null));
  const head = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}Connection: close\r\n\r\n`);
  socket.end(body);
}
