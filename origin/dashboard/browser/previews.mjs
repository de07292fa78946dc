// Opens every preview: previews.mjs ENDPOINT PICTURE URL [FOLDER]. Fails if axe finds a violation on
// one of them, in light or dark or at the width of a phone, or if it is wider than the screen. With
// FOLDER it only takes pictures, FOLDER/PAGE-STATE-light.png and so on.

import { join } from "node:path";
import { run, violations } from "./story.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ page: string, state: string, path: string }} Preview */

const WIDE = { width: 1100, height: 800 };
// The dark scheme changes nothing but colours, so only the rules about colours are checked again.
/** @type {{ name: string, colorScheme: "light" | "dark", size: typeof WIDE, rules?: string[] }[]} */
const LOOKS = [
  { name: "light", colorScheme: "light", size: WIDE },
  {
    name: "dark",
    colorScheme: "dark",
    size: WIDE,
    rules: ["color-contrast", "link-in-text-block"],
  },
  { name: "phone", colorScheme: "light", size: { width: 390, height: 844 } },
];

await run(async ({ open, args: [url = "", folder = ""] }) => {
  const page = await open({ reducedMotion: "reduce" });
  const answer = await fetch(`${url}/preview/`, { headers: { Accept: "application/json" } });
  /** @type {Preview[]} */
  const previews = await answer.json();
  /** @type {string[]} */
  const faults = [];
  /** @type {number[]} */
  const paints = [];
  for (const preview of previews) {
    await page.goto(url + preview.path);
    paints.push(await firstPaint(page));
    for (const look of LOOKS) {
      await page.emulateMedia({ colorScheme: look.colorScheme });
      await page.setViewportSize(look.size);
      if (folder) {
        await picture(page, join(folder, `${preview.page}-${preview.state}-${look.name}.png`));
      } else {
        faults.push(
          ...(await check(page, look.rules)).map((f) => `${preview.path} (${look.name}): ${f}`),
        );
      }
    }
  }
  paints.sort((a, b) => a - b);
  const [median, last] = [paints.at(paints.length / 2), paints.at(-1)];
  console.log(
    `${previews.length} previews, first paint after ${median} ms (median), ${last} ms (most)`,
  );
  if (faults.length > 0) {
    throw new Error(faults.join("\n"));
  }
});

/** @param {Page} page @param {string} path */
async function picture(page, path) {
  await page.screenshot({ path, fullPage: true });
}

/** @param {Page} page @param {string[]} [rules] */
async function check(page, rules) {
  const found = await violations(page, rules);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return wide > 0 ? [...found, `is ${wide} pixels wider than the screen`] : found;
}

/** Milliseconds from the beginning of the navigation to the first paint. @param {Page} page */
async function firstPaint(page) {
  const paint = await page.waitForFunction(
    () => performance.getEntriesByName("first-paint")[0]?.startTime,
  );
  return Math.round((await paint.jsonValue()) ?? 0);
}
