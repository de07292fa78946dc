// Tests in Chromium what pages may read of the service's responses:
//
//   PAGE=URL OTHER_PAGE=URL SERVICE=URL KEY=… UNBOUND_KEY=… node test/cors.mjs CHROMIUM
//
// KEY is bound to the origin of PAGE, UNBOUND_KEY to none.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { open } from "./browser.mjs";

const { PAGE, OTHER_PAGE, SERVICE, KEY, UNBOUND_KEY } = process.env;
const { page, close } = await open(process.argv[2], tmpdir());

/** Sends a request from the page that is open; returns null if the browser keeps the response from it. */
const send = (path, key, init = {}) =>
  page.evaluate(
    async ([url, options]) => {
      try {
        const response = await fetch(url, options);
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: await response.json(),
        };
      } catch {
        return null;
      }
    },
    [SERVICE + path, { ...init, headers: { "X-API-Key": key, ...init.headers } }],
  );

const single = "/v1/email/jane.doe@mail.example";
const batch = {
  method: "POST",
  headers: { "Content-Type": "application/json", "Idempotency-Key": "page" },
  body: '{"emails":["a@mail.example"]}',
};

try {
  await page.goto(PAGE);
  const good = await send(single, KEY);
  assert.equal(good.status, 200);
  assert.equal(good.body.valid, true);
  for (const name of ["x-request-id", "x-usage-current", "x-usage-limit"]) {
    assert.ok(name in good.headers, `a page cannot read ${name}`);
  }
  assert.equal((await send("/v1/emails", KEY, batch)).status, 200);
  assert.equal((await send("/v1/emails", KEY, batch)).headers["idempotency-replayed"], "true");
  assert.equal((await send("/v1/usage", KEY)).body.points.used, 2);
  const refused = await send("/v1/email/jane..doe@mail.example", KEY);
  assert.deepEqual([refused.status, refused.body.code], [400, "INVALID_EMAIL_FORMAT"]);
  assert.equal(await send(single, KEY, { credentials: "include" }), null);
  assert.equal(await send(single, UNBOUND_KEY), null);

  await page.goto(OTHER_PAGE);
  assert.equal(await send(single, KEY), null);
  assert.equal(await send("/v1/emails", KEY, batch), null);
} finally {
  await close();
}
