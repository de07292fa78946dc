/** Helpers that several tests use; not part of any bundle. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

import type { Fetch } from "../src/body.ts";
import type { Config } from "../src/config.ts";
import { Engine } from "../src/engine.ts";
import type { RawRequest } from "../src/origin.ts";
import { Worker } from "../src/worker.ts";

/** A well-formed key, the example in origin/ledger/credential.go. */
export const KEY = "ask_000000000000000000000000000000002CGNRW";

export function compileModule(): WebAssembly.Module {
  const file = process.env.ADDRSPEC_MODULE;
  if (file === undefined) throw new Error("run the tests with: node test/run.mjs MODULE");
  return new WebAssembly.Module(readFileSync(file));
}

export const engine = new Engine(compileModule());

export const config: Config = {
  origin: "http://origin.test",
  secret: "s",
  timeoutMS: 1000,
  flags: 0,
  pages: "public",
};

/** Returns a worker whose origin responds with reply, and records what it sends and logs. */
export function newWorker(
  reply: (request: Request) => Response | Promise<Response>,
  settings: Partial<Config> & { engine?: Engine } = {},
) {
  const sent: Request[] = [];
  const logged: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init);
    sent.push(request.clone());
    return await reply(request);
  };
  const { engine: ownEngine = engine, ...changed } = settings;
  const worker = new Worker({
    engine: ownEngine,
    config: { ...config, ...changed },
    fetch,
    log: (message) => logged.push(message),
  });
  return { worker, sent, logged };
}

/** Returns a request with a key; by default a GET. */
export function get(
  target: string,
  more: Partial<Omit<RawRequest, "headers">> & { headers?: Record<string, string> } = {},
): RawRequest {
  const headers = new Headers({ "X-API-Key": KEY, ...more.headers });
  return {
    method: "GET",
    target,
    body: null,
    signal: new AbortController().signal,
    proto: "https",
    ...more,
    headers,
  };
}

export function postBatch(body: string, headers: Record<string, string> = {}): RawRequest {
  return get("/v1/emails", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: new Response(body).body,
  });
}

export function json(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

/** Returns the origin's 200 to an admission. */
export function admitted(mx: unknown[], more: object = {}): Response {
  const body = JSON.stringify({ mx, partial: mx.includes(null), ...more });
  return json(200, body, { "X-Usage-Current": "1", "X-Usage-Limit": "1000" });
}

/** The lists that are packed into the module. */
export const packedLists = new Uint8Array(
  readFileSync(join(process.env.ADDRSPEC_VECTORS ?? "", "../../lists/lists.blob")),
);

/** Returns the packed lists with another date, such as "2030.01.01". */
export function listsOf(date: string): Uint8Array<ArrayBuffer> {
  const blob = packedLists.slice();
  blob.set(new TextEncoder().encode(date), 13);
  new DataView(blob.buffer).setUint32(9, crc32(blob.subarray(13)), true);
  return blob;
}

/** Signs as minisign does, with the cryptography of Node. */
export class Signer {
  readonly id: Buffer;
  readonly #secret: KeyObject;
  readonly #public: Buffer;

  constructor(id = "01234567") {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    this.id = Buffer.from(id);
    this.#secret = privateKey;
    this.#public = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  }

  /** The public key: the base64 line of minisign. */
  get key(): string {
    return Buffer.concat([Buffer.from("Ed"), this.id, this.#public]).toString("base64");
  }

  /** Returns a file .minisig with this trusted comment. */
  sign(file: Uint8Array, comment: string, algorithm: "ED" | "Ed" = "ED"): string {
    const message = algorithm === "ED" ? createHash("blake2b512").update(file).digest() : file;
    const signature = sign(null, message, this.#secret);
    const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), this.#secret);
    const first = Buffer.concat([Buffer.from(algorithm), this.id, signature]);
    return `untrusted comment: signature of the tests
${first.toString("base64")}
trusted comment: ${comment}
${global.toString("base64")}
`;
  }
}
