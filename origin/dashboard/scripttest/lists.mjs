/**
 * Checks lists in Chromium through a running service:
 *
 *   node lists.mjs CHROMIUM LINK FILE...
 *
 * Each FILE is a JSON object, a Task: the list, where to write the result, whether
 * to check offline; after how many posts to stop, or to load the page without
 * that, and go on; whether points are used up on the way; whether to go on in a
 * second tab at the same time; and whether to check the failures again. Prints a
 * line of JSON for each: what the page says, the requests that carried addresses,
 * the seconds it took, the longest task that blocked the page, and its memory.
 */

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { signIn } from "./chromium.mjs";

const [chromium = "", link = "", ...files] = process.argv.slice(2);
const { browser, page, faults, origin, close } = await signIn(chromium, link);

/**
 * @typedef {{ file: string, out: string, offline?: boolean, stop?: number, crash?: number, broke?: boolean, twice?: boolean,
 *   again?: boolean, timeout?: number, picture?: string }} Task
 */

let posts = 0;
page.on("request", (/** @type {{ method(): string, url(): string }} */ request) => {
  if (request.method() === "POST" && request.url().endsWith("/dashboard/lists/check")) posts++;
});

async function open() {
  await page.goto(`${origin}/dashboard/lists`);
  await page.waitForSelector("#lists:not([hidden])");
  await page.evaluate(() => {
    const list = /** @type {{ longest: number }} */ (/** @type {unknown} */ (window));
    list.longest = 0;
    new PerformanceObserver((entries) => {
      for (const { duration } of entries.getEntries()) list.longest = Math.max(list.longest, duration);
    }).observe({ type: "longtask", buffered: false });
  });
}

/** Opens the page anew and chooses the same file. @param {string} file */
async function reopen(file) {
  await open();
  await page.setInputFiles("#file", file);
  await page.waitForSelector("#saved-card:not([hidden])");
}

/**
 * Stops or crashes after some posts, and goes on.
 * @param {Task} task
 */
async function interrupt({ file, stop = 0, crash = 0 }) {
  while (posts < stop + crash) await page.waitForTimeout(5);
  if (stop > 0) {
    await page.click("#stop");
    await page.waitForSelector("#saved-card:not([hidden])");
  }
  await reopen(file);
  const text = await page.innerText("#saved-text");
  await page.click("#resume");
  return text;
}

/** Waits until points are used up, and resumes until there are some again. */
async function waitForPoints() {
  await page.waitForSelector("#problem-card:not([hidden])");
  const text = await page.innerText("#problem-text");
  while (await page.isHidden("#finished")) {
    if (await page.isVisible("#resume")) await page.click("#resume");
    await page.waitForTimeout(300);
  }
  return text;
}

async function checkAgain() {
  const text = await page.innerText("#again");
  const before = await page.innerText("#counts");
  await page.waitForTimeout(2500); // the service caches failures for two seconds
  await page.click("#again");
  await page.waitForFunction((old) => document.getElementById("counts")?.textContent !== old, before);
  return text;
}

/** @param {Task} task */
async function check(task) {
  const { file, offline = false, timeout = 30_000 } = task;
  page.setDefaultTimeout(timeout);
  posts = 0;
  await open();
  const chosen = performance.now();
  await page.setInputFiles("#file", file);
  await page.waitForSelector("#starting:not([hidden]), #problem-card:not([hidden])");
  const surveyed = (performance.now() - chosen) / 1000;
  if (await page.isVisible("#problem-card")) return { problem: await page.innerText("#problem-text"), seconds: surveyed, ...(await load()) };
  if (offline) await page.check("#offline");
  const cost = await page.innerText("#cost");
  if (task.picture) await takePictures(task.picture);
  const started = performance.now();
  await page.click("#start");
  if (task.twice) return { problem: await startElsewhere(file) };
  const paused = task.stop || task.crash ? await interrupt(task) : task.broke ? await waitForPoints() : "";
  await page.waitForSelector("#finished:not([hidden])");
  const again = task.again ? await checkAgain() : "";
  await page.waitForSelector("#finished:not([hidden])");
  const seconds = (performance.now() - started) / 1000;
  const counts = await page.innerText("#counts");
  const name = await save(task.out);
  return { name, cost, paused, again, counts, posts, surveyed, seconds, ...(await load()), size: statSync(task.out).size };
}

/**
 * Resumes the list that is being checked in a second tab. Returns what that says.
 * @param {string} file
 */
async function startElsewhere(file) {
  while (posts < 2) await page.waitForTimeout(5);
  const other = await page.context().newPage();
  await other.goto(`${origin}/dashboard/lists`);
  await other.setInputFiles("#file", file);
  await other.click("#resume");
  await other.waitForSelector("#problem-card:not([hidden])");
  return other.innerText("#problem-text");
}

/** Takes pictures: light, dark, and on a phone. @param {string} path with the ending .png */
async function takePictures(path) {
  for (const [name, colorScheme, width] of /** @type {const} */ ([["", "light", 1280], ["-dark", "dark", 1280], ["-phone", "light", 390]])) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: path.replace(/\.png$/, `${name}.png`), fullPage: true });
  }
}

/** @param {string} out */
async function save(out) {
  await page.waitForSelector("#download:not([hidden])");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
  await download.saveAs(out);
  return download.suggestedFilename();
}

/** Returns the largest resident set of the page's process, as Linux counts it. */
async function peakMemory() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const peaks = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    return 1024 * Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1]);
  });
  return Math.max(...peaks);
}

/** How long the page was blocked at most in milliseconds, and the peak memory of its process, which also runs the worker, in bytes. */
async function load() {
  const longest = await page.evaluate(() => /** @type {{ longest: number }} */ (/** @type {unknown} */ (window)).longest);
  return { longest, memory: await peakMemory() };
}

try {
  for (const file of files) {
    const result = await check(JSON.parse(readFileSync(file, "utf8")));
    writeFileSync(1, `${JSON.stringify(result)}\n`);
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
} catch (error) {
  writeFileSync(2, `${await page.innerText("body")}\n${faults.join("\n")}\n`);
  throw error;
} finally {
  await close();
}
