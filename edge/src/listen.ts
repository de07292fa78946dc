import type { Environment } from "./config.ts";

const DEFAULT = "127.0.0.1:8787";

/** Returns the address to listen on: LISTEN=HOST:PORT. */
export function listenOf(env: Environment): { hostname: string; port: number } {
  const listen = typeof env.LISTEN === "string" && env.LISTEN !== "" ? env.LISTEN : DEFAULT;
  const [, hostname, port] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(listen) ?? [];
  if (hostname === undefined || Number(port) > 65535) {
    throw new Error(`LISTEN must be HOST:PORT, such as ${DEFAULT}`);
  }
  return { hostname: hostname === "" ? "::" : hostname, port: Number(port) };
}

/** Returns the line that a worker prints once it listens. */
export function listening(hostname: string, port: number): string {
  return `addrspec edge on http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
