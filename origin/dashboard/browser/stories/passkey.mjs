// A passkey in Chromium's virtual authenticator: passkey.mjs ENDPOINT PICTURE LINK. Adds one, signs in
// with it alone, removes it and is refused.

import assert from "node:assert/strict";
import { accessible, run, signOut, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await page.addInitScript(() => {
    // The authenticator would respond to the autofill of the sign-in form before the click.
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
  await page.goto(link);
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true, // it confirms everything by itself
    },
  });
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Add a passkey" }).click();
  await accessible(page);
  await page.getByLabel("Name").fill("virtual key");
  await page.getByRole("button", { name: "Add the passkey" }).click();
  await page.waitForURL("**/dashboard/settings?done=*");
  await accessible(page);
  await signInWithPasskey(page);
  await page.waitForURL("**/dashboard");
  await page.getByRole("link", { name: "Settings" }).click();
  assert.match(await text(page, "main"), /virtual key/);
  await page.getByRole("link", { name: "Remove the passkey virtual key" }).click();
  await accessible(page);
  await page.locator("main form button").first().click();
  await page.waitForURL("**/dashboard/settings?done=*");
  await signInWithPasskey(page);
  await page.locator("form[data-passkey] [role=alert]:visible, #problem").first().waitFor();
  assert.match(page.url(), /\/sign-in/, "a removed passkey is refused");
});

/** Signs out, and in by the button. @param {Page} page */
async function signInWithPasskey(page) {
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
}
