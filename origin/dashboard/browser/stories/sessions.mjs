// Signs in with two browsers and ends the session of one from the other: sessions.mjs ENDPOINT
// PICTURE LINK.

import assert from "node:assert/strict";
import { accessible, enter, run, setPassword, signIn, signOut } from "../story.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const [first, second] = [await open(), await open()];
  await enter(first, link);
  await setPassword(first);
  await signIn(second, new URL(link).origin, "sessions@example.com");
  await second.getByRole("link", { name: "Settings" }).click();
  const rows = second.getByRole("row", { name: "Chrome" });
  assert.equal(await rows.count(), 2);
  await accessible(second);
  await second.getByRole("button", { name: "Sign out all other browsers" }).click();
  await second.waitForURL("**/settings?done=sessions-ended");
  assert.equal(await rows.count(), 1);
  await first.reload();
  assert.match(first.url(), /\/sign-in\?to=/, "the other browser is signed out");
  await signOut(second);
  await accessible(second);
  await second.goBack();
  await second.reload();
  assert.match(second.url(), /\/sign-in/, "nothing of the session is left");
});
