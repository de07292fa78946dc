// Serves a directory that build.mjs made in the platform's own local runtime, and prints the
// address. Settings are environment variables:
//
//   node local.mjs vercel|netlify DIRECTORY
//
// vercel is the server to which `vercel dev` passes a request for a middleware, and netlify
// that of `netlify dev` for edge functions, which needs Deno on the PATH.

import { once } from "node:events";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const starters = {
  async vercel(workPath) {
    // From the CommonJS build: the package has no other.
    const { startDevServer } = createRequire(import.meta.url)("@vercel/node");
    const { port, shutdown } = await startDevServer({
      files: {},
      entrypoint: "middleware.js",
      workPath,
      config: { middleware: true, zeroConfig: true },
      meta: { env: process.env, isDev: true, requestUrl: "/" },
    });
    return { port, stop: shutdown };
  },

  async netlify(site) {
    const { EdgeFunctionsHandler } = await import("@netlify/edge-functions-dev");
    const { HTTPServer } = await import("@netlify/dev-utils");
    const functions = new EdgeFunctionsHandler({
      directories: [join(site, "netlify/edge-functions")],
      configDeclarations: [],
      env: process.env,
      geolocation: {},
      logger: console,
      siteID: "site",
      siteName: "site",
    });
    const server = new HTTPServer(async (request) => {
      request.headers.set("x-nf-request-id", crypto.randomUUID());
      const match = await functions.match(request);
      return match === undefined
        ? new Response("no edge function is for this path", { status: 404 })
        : match.handle(request, server.url);
    });
    return { port: new URL(await server.start()).port, stop: () => functions.stop() };
  },
};

const [chosen, directory] = process.argv.slice(2);
if (!directory || !Object.hasOwn(starters, chosen)) {
  console.error("usage: node local.mjs vercel|netlify DIRECTORY");
  process.exit(2);
}
const { port, stop } = await starters[chosen](resolve(directory));
console.log(`${chosen} on http://127.0.0.1:${port}`);
await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
await stop();
process.exit();
