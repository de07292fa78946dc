// A second factor: totp.mjs ENDPOINT PICTURE LINK. Sets a password and an authenticator app, and signs
// in with a recovery code.

import { accessible, enter, run, setPassword, signIn, signOut, text } from "../story.mjs";
import { totp } from "../totp.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await enter(page, link);
  await setPassword(page);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Set up an app" }).click();
  await accessible(page);
  const code = totp(await text(page, "main li code"), Date.now());
  await page.getByLabel("Give the code").fill(code);
  await page.getByRole("button", { name: "Finish" }).click();
  const [recovery = ""] = (await text(page, "#codes")).split("\n");
  await accessible(page);
  await page.getByRole("link", { name: "I have kept them" }).click();
  await accessible(page);
  await signOut(page);
  await signIn(page, new URL(link).origin, "totp@example.com");
  await accessible(page);
  await page.getByLabel("Code of your authenticator app").fill(recovery);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL("**/dashboard");
});
