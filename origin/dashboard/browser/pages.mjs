// Opens every page of a seeded service: pages.mjs ENDPOINT PICTURE ORIGIN PEOPLE [DIRECTORY]. Fails if
// axe finds a violation on one of them, in light or dark or at the width of a phone, if it is wider than
// the screen, if a part of it is cut off without a hint, or if its navigation wraps. With DIRECTORY it only takes pictures, DIRECTORY/PERSON-PAGE-light.png and so on.

import { join } from "node:path";
import { run, violations } from "./story.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ name: string, link: string, pages: string[] }} Person */

const WIDE = { width: 1280, height: 800 };
// The dark scheme changes nothing but colours, so only the rules about colours are checked again.
/** @typedef {{ name: string, colorScheme: "light" | "dark", size: typeof WIDE, rules?: string[] }} Look */
/** @type {Look[]} */
const PICTURES = [
  { name: "light", colorScheme: "light", size: WIDE },
  {
    name: "dark",
    colorScheme: "dark",
    size: WIDE,
    rules: ["color-contrast", "link-in-text-block"],
  },
  // The narrowest screen (WCAG 2.2, 1.4.10).
  { name: "phone", colorScheme: "light", size: { width: 320, height: 720 } },
];
// Widths between those of the pictures; 1249 is the narrowest with the whole navigation.
const LOOKS = [...PICTURES, ...[768, 1249].map(narrow)];

/** @param {number} width @returns {Look} */
function narrow(width) {
  const rules = ["scrollable-region-focusable"];
  return { name: `${width} pixels`, colorScheme: "light", size: { width, height: 800 }, rules };
}

/** Forms that are submitted without input, to see the problem: the button by the path. @type {Record<string, string>} */
const EMPTY = {
  "/sign-in": "Sign in",
  "/dashboard/keys": "Create",
  "/dashboard/policies": "Create",
  "/dashboard/policies/sign-up": "Try",
  "/dashboard/try": "Check",
};

await run(async ({ open, args: [origin = "", people = "", directory = ""] }) => {
  /** @type {string[]} */
  const faults = [];
  let seen = 0;
  for (const { name, link, pages } of /** @type {Person[]} */ (JSON.parse(people))) {
    const page = await open({ reducedMotion: "reduce" });
    if (link) {
      await page.goto(link);
      await page.getByRole("button", { name: "Continue" }).click();
    }
    for (const path of pages) {
      await page.goto(origin + path);
      faults.push(...(await look(page, `${name}${path.replaceAll("/", "-")}`, directory)));
      seen++;
      const button = EMPTY[path];
      if (!button) continue;
      await submit(page, button);
      faults.push(...(await look(page, `${name}${path.replaceAll("/", "-")}-refused`, directory)));
      seen++;
    }
  }
  console.log(`${seen} pages`);
  if (faults.length > 0) throw new Error(faults.join("\n"));
});

/**
 * Submits the form of a button, whatever the browser thinks of its fields.
 * @param {Page} page
 * @param {string} name of the button
 */
async function submit(page, name) {
  const button = page.locator("main").getByRole("button", { name, exact: true }).first();
  await button.evaluate((element) => element.closest("form")?.setAttribute("novalidate", ""));
  await button.click();
  await page.locator("#problem, .tried .bad").first().waitFor();
}

/**
 * Checks a page in every look, or takes pictures of it.
 * @param {Page} page
 * @param {string} name
 * @param {string} directory
 */
async function look(page, name, directory) {
  const faults = [];
  for (const { name: kind, colorScheme, size, rules } of directory ? PICTURES : LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    if (directory) {
      await page.screenshot({ path: join(directory, `${name}-${kind}.png`), fullPage: true });
    } else {
      faults.push(...(await check(page, rules)).map((fault) => `${name} (${kind}): ${fault}`));
    }
  }
  return faults;
}

/** @param {Page} page @param {string[]} [rules] */
async function check(page, rules) {
  const found = await violations(page, rules);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) found.push(`is ${wide} pixels wider than the screen`);
  return [...found, ...(await page.evaluate(cutOff)), ...(await page.evaluate(wrapped))];
}

/** What scrolls sideways without the shadow that shows it. In the page. */
function cutOff() {
  const all = [...document.querySelectorAll("main *:not(input, textarea, svg *)")];
  const cut = all.filter((one) => {
    const { overflowX, backgroundAttachment } = getComputedStyle(one);
    return (
      /auto|scroll/.test(overflowX)
      && one.scrollWidth > one.clientWidth
      && !backgroundAttachment.includes("local")
    );
  });
  return cut.map((one) => `cuts off ${one.outerHTML.slice(0, 100)} without a hint`);
}

/** Navigations of the header whose links are on several lines. In the page. */
function wrapped() {
  return [...document.querySelectorAll("header nav")].flatMap((nav) => {
    const tops = [...nav.querySelectorAll("a")].map((link) => link.getBoundingClientRect().top);
    return new Set(tops).size > 1 ? ["has a navigation that wraps"] : [];
  });
}
