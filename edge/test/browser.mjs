// Serves a directory on a loopback port and opens a browser on it, for tests:
//
//   const { page, close } = await open(CHROMIUM, DIRECTORY);
//
// In place of a directory it takes the URL of a server.

import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const TYPES = {
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

export async function open(executablePath, place, options = {}) {
  const server = /^https?:/.test(place) ? { url: place, close() {} } : await serve(place);
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

async function serve(directory) {
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://host").pathname.slice(1) || "index.html";
    response.setHeader("Content-Type", TYPES[extname(name)] ?? "application/octet-stream");
    createReadStream(join(directory, name))
      .on("error", () => response.writeHead(404).end())
      .pipe(response);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
