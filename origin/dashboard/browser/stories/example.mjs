// Types an address into the sign-up form of a page that runs the example of the guide about
// browser keys, and prints the hint that it shows: example.mjs ENDPOINT PICTURE URL ADDRESS.

import { run } from "../story.mjs";

await run(async ({ open, args: [url = "", address = ""] }) => {
  const page = await open();
  await page.goto(url);
  await page.fill("input", address);
  await page.locator("input").blur();
  await page.waitForFunction("failed || document.querySelector('#email-hint').textContent !== ''");
  console.log(await page.locator("#email-hint").textContent());
}, false); // a page of another origin logs that the browser refuses it the response
