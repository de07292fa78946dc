/**
 * The entry for Node and Bun, with the settings and LISTEN=HOST:PORT in the
 * environment:
 *
 *     node node.js
 *     bun --max-http-header-size=65536 node.js
 *
 * Bun.serve would clean "//" and ".." out of the path, in which an address
 * stands; its node:http does not.
 */

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";

import { readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { listenOf, welcome } from "../src/listen.ts";
import { type Asked, Worker } from "../src/worker.ts";

const engine = new Engine(new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url))));
const log = (message: string) => console.error(message);
const worker = new Worker({ engine, config: readConfig(process.env), fetch: (url, init) => fetch(url, init), log });
const { hostname, port } = listenOf(process.env);

// The limits of the origin: 64 KiB of header, 5 s for it, 15 s for all of a request.
const server = createServer({ maxHeaderSize: 64 << 10, headersTimeout: 5_000, requestTimeout: 15_000 }, serve);
server.on("clientError", refuseBroken);
server.listen(port, hostname, () => console.log(welcome(hostname, (server.address() as AddressInfo).port)));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => server.close());

function serve(request: IncomingMessage, response: ServerResponse): void {
  answer(request, response).catch(() => response.destroy()); // the caller is gone
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { status, headers, body } = await worker.answer(asked(request, gone.signal));
  response.writeHead(status, [...headers].flat());
  if (body === null || request.method === "HEAD") response.end();
  else await pipeline(Readable.fromWeb(body as NodeStream), response);
}

function asked(request: IncomingMessage, signal: AbortSignal): Asked {
  const headers = new Headers();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) headers.append(request.rawHeaders[i]!, request.rawHeaders[i + 1]!);
  const method = request.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? null : (Readable.toWeb(request) as ReadableStream<Uint8Array>);
  // Node reads the request line as Latin-1; its octets are told as they are.
  const target = (request.url ?? "/").replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return { method, target, headers, body, signal, proto: "http" };
}

/** What is not HTTP gets the contract's error too. */
function refuseBroken({ code }: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return;
  const [status, error] = code === "HPE_HEADER_OVERFLOW" ? [431, "The request line and headers are over 64 KiB."] : [400, "The request is not well-formed HTTP."];
  const body = JSON.stringify({ status, error, code: "BAD_REQUEST" });
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nX-Request-Id: ${crypto.randomUUID()}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
}
