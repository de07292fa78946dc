/** The settings of a deployment: environment variables, or bindings of the same names. */

import { type Feed, parseFeedURL } from "./feed.ts";
import { FULL_SUGGESTION } from "./instance.ts";
import type { Pages } from "./route.ts";
import { parsePublicKey } from "./signature.ts";

export interface Config {
  /** The origin's scheme, host and port, as a URL parser serializes them. */
  readonly origin: string;
  readonly secret: string;
  /** The time limit for the origin; longer than its --batch-timeout and --dns-timeout. */
  readonly timeoutMS: number;
  readonly flags: number;
  readonly pages: Pages;
  /** Where newer lists come from, and how often; undefined without ADDRSPEC_LISTS_URL. */
  readonly lists?: ListsConfig | undefined;
}

export interface ListsConfig {
  readonly feed: Feed;
  readonly intervalMS: number;
}

export type Environment = Readonly<Record<string, unknown>>;

const PAGES = { yes: "public", dashboard: "dashboard", no: "none" } as const;
const MIN_INTERVAL_MS = 1000;
const MAX_INTERVAL_MS = 7 * 24 * 3_600_000;
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Reads the settings; throws an error that names a missing or wrong one. */
export function readConfig(env: Environment): Config {
  const get = (name: string, fallback?: string) => {
    const value = env[name] || fallback;
    if (typeof value === "string") return value;
    throw new Error(`${name} is not set; see edge/README.md`);
  };
  const choose = <T>(name: string, fallback: string, choices: Readonly<Record<string, T>>): T => {
    const word = get(name, fallback);
    const choice = Object.hasOwn(choices, word) ? choices[word] : undefined;
    if (choice !== undefined) return choice;
    throw new Error(`${name} must be one of: ${Object.keys(choices).join(", ")}`);
  };
  const origin = baseURLOf(get("ADDRSPEC_ORIGIN"));
  const secret = get("ADDRSPEC_EDGE_SECRET");
  if (secret.length < 16) {
    throw new Error(
      "ADDRSPEC_EDGE_SECRET has fewer than 16 characters; make a random one, "
        + "such as with openssl rand -hex 32, and set it at the origin and at its workers",
    );
  }
  const timeoutMS = Number(get("ADDRSPEC_ORIGIN_TIMEOUT_MS", "15000"));
  if (!Number.isInteger(timeoutMS) || timeoutMS < 1 || timeoutMS > 600_000)
    throw new Error("ADDRSPEC_ORIGIN_TIMEOUT_MS must be 1 to 600000");
  return {
    origin,
    secret,
    timeoutMS,
    flags: choose("ADDRSPEC_TYPO_SUGGESTION", "domain", { domain: 0, address: FULL_SUGGESTION }),
    pages: choose("ADDRSPEC_FORWARD", "yes", PAGES),
    // Without a URL the module's own lists remain in use.
    lists: get("ADDRSPEC_LISTS_URL", "") === "" ? undefined : listsOf(get),
  };
}

function listsOf(get: (name: string, fallback?: string) => string): ListsConfig {
  const key = get("ADDRSPEC_LISTS_KEY", "");
  if (key === "") {
    throw new Error(
      "ADDRSPEC_LISTS_KEY is not set: lists from ADDRSPEC_LISTS_URL need the public key of their signer",
    );
  }
  return {
    feed: {
      blob: named("ADDRSPEC_LISTS_URL", () => parseFeedURL(get("ADDRSPEC_LISTS_URL"))),
      key: named("ADDRSPEC_LISTS_KEY", () => parsePublicKey(key)),
    },
    intervalMS: intervalOf(get("ADDRSPEC_LISTS_INTERVAL", "6h")),
  };
}

function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

/** Reads a duration such as "6h" or "1h30m", as the origin does. */
function intervalOf(text: string): number {
  const parts = /^(?:\d{1,6}[smh])+$/.test(text) ? text.match(/\d+[smh]/g) : null;
  const value = (parts ?? []).reduce(
    (sum, part) => sum + Number.parseInt(part, 10) * (UNITS[part.slice(-1)] ?? 0),
    0,
  );
  if (value >= MIN_INTERVAL_MS && value <= MAX_INTERVAL_MS) return value;
  throw new Error("ADDRSPEC_LISTS_INTERVAL must be 1s to 168h, such as 6h");
}

function baseURLOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Requests use scheme, host and port only: a path, a query or a user name would be lost.
  if (
    url === undefined
    || !/^https?:$/.test(url.protocol)
    || url.href !== `${url.origin}/`
    || /[?#]$/.test(text)
  ) {
    throw new Error(
      "ADDRSPEC_ORIGIN must be the origin's base URL, such as https://origin.example.org",
    );
  }
  return url.origin;
}

const DEFAULT_LISTEN = "127.0.0.1:8787";

/** Returns the address to listen on: LISTEN=HOST:PORT. */
export function listenOf(env: Environment): { hostname: string; port: number } {
  const listen = typeof env.LISTEN === "string" && env.LISTEN !== "" ? env.LISTEN : DEFAULT_LISTEN;
  const [, hostname, port] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(listen) ?? [];
  if (hostname === undefined || Number(port) > 65535) {
    throw new Error(`LISTEN must be HOST:PORT, such as ${DEFAULT_LISTEN}`);
  }
  return { hostname: hostname === "" ? "::" : hostname, port: Number(port) };
}

/** Returns the line that a worker prints once it listens. */
export function listening(hostname: string, port: number): string {
  return `addrspec edge on http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
