// Starts one Chromium for all tests and prints where scripts connect to it: chromium.mjs CHROMIUM.
// It ends when standard input closes, hence with the test that started it.

import { chromium } from "playwright-core";

// No sandbox, because tests may run as root in containers; no background requests.
const launched = chromium.launchServer({
  executablePath: process.argv[2],
  timeout: 120_000, // the machine may be busy
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const server = await launched.catch((error) => {
  const reason = /\[err\] (.*)/.exec(error.logs)?.[1] ?? error.message.split("\n")[0];
  console.error(reason);
  process.exit(1);
});
process.stdin.on("end", () => server.close().then(() => process.exit())).resume();
console.log(server.wsEndpoint());
