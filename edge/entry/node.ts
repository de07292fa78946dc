/**
 * Runs the worker on Node and Bun, with the settings and LISTEN=HOST:PORT in the
 * environment:
 *
 *     node node.js
 *     bun --max-http-header-size=65536 node.js
 *
 * Bun.serve would remove "//" and ".." from the path, which contains an address;
 * Bun's node:http does not.
 */

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { listening, listenOf, readConfig } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import { keepFresh } from "../src/feed.ts";
import type { RawRequest } from "../src/origin.ts";
import { problemResponse, render, requestID, respond } from "../src/response.ts";
import { badRequest } from "../src/route.ts";
import { Worker } from "../src/worker.ts";

const engine = new Engine(
  new WebAssembly.Module(readFileSync(new URL("addrspec.wasm", import.meta.url))),
);
const worker = new Worker({ engine, config: readConfig(process.env) });
const { hostname, port } = listenOf(process.env);
const stopUpdates = worker.lists && keepFresh(worker.lists, (timer) => timer.unref());

// The limits of the origin: 32 KiB of headers in 5 s, and 15 s for a whole request.
const limits = { maxHeaderSize: 32 << 10, headersTimeout: 5_000, requestTimeout: 15_000 };
const server = createServer({ ...limits, requireHostHeader: false }, serve);
server.on("checkExpectation", serve);
server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) =>
  refuseConnection(socket, code === "HPE_HEADER_OVERFLOW" ? 431 : 400),
);
server.on("connect", (_, socket) => refuseConnection(socket, 400));
server.listen(port, hostname, () =>
  console.log(listening(hostname, (server.address() as AddressInfo).port)),
);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    server.close();
    stopUpdates?.();
  });

/** The unfinished responses of each connection in their order, with their requests. */
const unfinished = new WeakMap<Duplex, Map<ServerResponse, IncomingMessage>>();

function serve(request: IncomingMessage, response: ServerResponse): void {
  const ofConnection = unfinished.get(request.socket) ?? new Map();
  unfinished.set(request.socket, ofConnection.set(response, request));
  response.once("close", () => ofConnection.delete(response));
  handle(request, response).catch(() => response.destroy()); // the client has disconnected
}

/** Reports whether there is one Host header, which HTTP/1.1 requires (RFC 9112 section 3.2). */
function hasHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && name.toLowerCase() === "host").length;
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  const { status, headers, body } = hasHost(request)
    ? await worker.respond(rawRequest(request, disconnected.signal))
    : respond(problemResponse(badRequest(400)), requestID(null));
  response.writeHead(status, [...headers].flat());
  if (body === null || request.method === "HEAD") response.end();
  else await pipeline(Readable.fromWeb(body as NodeStream), response);
}

function rawRequest(request: IncomingMessage, signal: AbortSignal): RawRequest {
  const headers = new Headers();
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    headers.append(request.rawHeaders[i] ?? "", request.rawHeaders[i + 1] ?? ""); // in range
  }
  const method = request.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(request);
  // Node decodes the request line as Latin-1. Percent-encoding keeps the bytes that were sent.
  const target = (request.url ?? "").replace(
    /[\x80-\xff]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return { method, target, headers, body, signal, proto: "http" };
}

/**
 * Responds to what Node cannot parse with the contract's problem, and closes the connection. The
 * problem must wait for the responses to requests that arrived before, because a client takes the
 * first response for that to its first request.
 */
function refuseConnection(socket: Duplex, status: 400 | 431): void {
  const before = [...(unfinished.get(socket) ?? [])].findLast(([, request]) => request.complete);
  if (before) {
    before[0].once("close", () => refuseConnection(socket, status));
    return;
  }
  socket.on("error", () => undefined); // the client has disconnected
  if (!socket.writable) return;
  const { headers, body } = render(problemResponse(badRequest(status)), requestID(null));
  const head = [...new Headers(headers)].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}Connection: close\r\n\r\n`);
  socket.end(body);
}

/**
 * Returns the body of a request, which is read only on demand. Readable.toWeb
 * would buffer thousands of chunks, and would close the connection without a
 * response when the rest is not needed.
 */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  let needed = true;
  request.pause();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        request.on("data", (chunk: Uint8Array) => {
          if (!needed) return; // still read to the end, for the connection's next request
          request.pause();
          controller.enqueue(chunk);
        });
        const end = (finish: () => void) => {
          if (needed) finish();
          needed = false;
        };
        request.once("end", () => end(() => controller.close()));
        // An error means that the client aborted the body.
        request.on("error", (error) => end(() => controller.error(error)));
      },
      pull() {
        request.resume();
      },
      cancel() {
        needed = false;
        request.resume();
      },
    },
    { highWaterMark: 0 },
  );
}
