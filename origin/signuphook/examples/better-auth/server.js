/** A server with better-auth and the plugin. It prints its address. */
import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { addrspec } from "./addrspec.js";

const { HOOK_URL: url, HOOK_SECRET: secret, HOOK_ON_ERROR: onError = "deny" } = process.env;

const auth = betterAuth({
  baseURL: "http://127.0.0.1",
  trustedOrigins: ["http://127.0.0.1"],
  secret: process.env.BETTER_AUTH_SECRET,
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }), // yours in its place
  emailAndPassword: { enabled: true },
  plugins: [addrspec({ url, secret, onError })],
  telemetry: { enabled: false },
});

const server = createServer(toNodeHandler(auth));
server.listen(0, "127.0.0.1", () => console.log(`listening at http://127.0.0.1:${server.address().port}`));
