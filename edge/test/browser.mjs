// Serves a directory on a loopback port and opens a browser on it, for tests:
//
//   const { page, close } = await open(CHROMIUM, DIRECTORY);
//
// In place of a directory it takes the URL of a server. The options are those of a page, and
// headers, which every response of the directory has.

import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};
// No sandbox, because tests may run as root in containers; no background requests.
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function open(executablePath, place, { headers = {}, ...options } = {}) {
  const server = /^https?:/.test(place) ? { url: place, close() {} } : await serve(place, headers);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const page = await browser.newPage({ baseURL: server.url, ...options });
  page.on("pageerror", (error) => {
    throw error;
  });
  return {
    page,
    close: async () => {
      await browser.close();
      server.close();
    },
  };
}

async function serve(directory, headers) {
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://host").pathname.slice(1) || "index.html";
    for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
    response.setHeader("Content-Type", TYPES[extname(name)] ?? "application/octet-stream");
    createReadStream(join(directory, name))
      .on("error", () => response.writeHead(404).end())
      .pipe(response);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
