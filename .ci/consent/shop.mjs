// Shoppers at a shop, for the scripts in this folder: a browser, and what is wrong with a page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const asked = JSON.parse(process.argv[2]);
const { shop, bank, pictures, browser: executablePath } = asked;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

const faults = new Set();

/** Notes what is wrong with a page, and goes on: all of it is said at the end. */
export function note(what, holds) {
  if (!holds) faults.add(what);
}

export function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
}

export async function visitor({ width = 1280, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 860 }, ...options });
  const page = await context.newPage();
  listen(page);
  return page;
}

/** Notes what a page's console says, and what it asks other hosts for. */
export function listen(page) {
  page.faults = [];
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("request", (request) => {
    const { origin } = new URL(request.url());
    if (!["null", shop, bank].includes(origin)) page.faults.push(`it asks ${request.url()}`);
  });
}

/** What is wrong with a page: for people who use a keyboard or a reader, and on its screen. */
export async function look(page, name, width, options = { fullPage: true }) {
  // What fades in is not read yet.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  await page.screenshot({ path: `${pictures}/shop-${name}-${width}.png`, ...options });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  note(`${name} fits ${width} px`, !wide);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  note(`${name}: ${JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html]))}`, !violations.length);
}

/** How far the page's parts have moved since it was opened, but for what the shopper did (CLS). */
export function shifted(page) {
  return page.evaluate(() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 200);
  }));
}

/** A theme's page, as a visitor finds it. */
export async function visit(page, path, name, width) {
  const answer = await page.goto(shop + path);
  check(`${name} is ${answer.status()}`, answer.status() === (name === "not-found" ? 404 : 200));
  await stays(page, name);
  await look(page, name, width);
}

export async function stays(page, name) {
  const shift = await shifted(page);
  note(`${name} stays in place: ${shift.toFixed(2)}`, shift < 0.05);
}

export async function fill(page, email = "asha@example.com") {
  await page.fill("#email", email);
  const fields = { first_name: "Asha", last_name: "Rao", line1: "12 MG Road", city: "Bengaluru", postal_code: "560001" };
  for (const [name, value] of Object.entries(fields)) await page.fill(`#ship-${name}`, value);
  await page.selectOption("#ship-region", "KA");
}

/** Ends the browser, and fails if anything was noted. */
export async function finish() {
  await browser.close();
  check([...faults].join("\n"), !faults.size);
}
