import type { Environment } from "./config.ts";

/** Where to listen: LISTEN=HOST:PORT, by default 127.0.0.1:8787. */
export function listenOf(env: Environment): { hostname: string; port: number } {
  const listen =
    typeof env.LISTEN === "string" && env.LISTEN !== "" ? env.LISTEN : "127.0.0.1:8787";
  const [, hostname, port] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(listen) ?? [];
  if (hostname === undefined || Number(port) > 65535)
    throw new Error("LISTEN must be HOST:PORT, such as 127.0.0.1:8787");
  return { hostname: hostname === "" ? "::" : hostname, port: Number(port) };
}

/** Says where a worker listens. */
export function welcome(hostname: string, port: number): string {
  return `addrspec edge on http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
