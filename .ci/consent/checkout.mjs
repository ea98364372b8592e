// Plays shoppers at the demo store's shop: cart, checkout, payment, order and account, on a telephone and on a screen,
// with and without scripts. axe-core looks at every page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { shop, variant, bank, customer, pictures, browser: executablePath } = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

const faults = new Set();

/** Notes what is wrong with a page, and goes on: all of it is said at the end. */
function note(what, holds) {
  if (!holds) faults.add(what);
}

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
}

async function visitor({ width = 1280, colorScheme = "light", javaScriptEnabled = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme, javaScriptEnabled });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("request", (request) => {
    const { origin } = new URL(request.url());
    if (![shop, bank].includes(origin)) page.faults.push(`it asks ${request.url()}`);
  });
  return page;
}

/** What is wrong with a page: for people who use a keyboard or a reader, and on its screen. */
async function look(page, name, width) {
  await page.screenshot({ path: `${pictures}/shop-${name}-${width}.png`, fullPage: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  note(`${name} fits ${width} px`, !wide);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  note(`${name}: ${JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html]))}`, !violations.length);
}

/** How far the page's parts have moved while it was loaded (CLS). */
function shifted(page) {
  return page.evaluate(() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 200);
  }));
}

/** A theme's page, as a visitor finds it. */
async function visit(page, path, name, width) {
  const answer = await page.goto(shop + path);
  check(`${name} is ${answer.status()}`, answer.status() === (name === "not-found" ? 404 : 200));
  const shift = await shifted(page);
  note(`${name} stays in place: ${shift.toFixed(2)}`, shift < 0.05);
  await look(page, name, width);
}

/** From the home page to the cart, by links and forms. */
async function choose(page, width) {
  await visit(page, "/", "home", width);
  await visit(page, "/collections", "collections", width);
  await visit(page, "/collections/all?sort_by=price-ascending&filter.v.availability=1", "list", width);
  await visit(page, "/search?q=candle", "search", width);
  await visit(page, "/policies/privacy", "policy", width);
  await visit(page, "/nowhere", "not-found", width);
  await visit(page, "/collections/all", "all", width);
  await page.click(".card >> nth=0");
  await page.waitForURL(/products/);
  await look(page, "product", width);
  await page.click(".buy button");
  await page.waitForURL(`${shop}/cart`);
  await look(page, "cart", width);
  await page.fill("[name='updates[]'] >> nth=0", "2");
  await page.click("button[name=update]");
  await page.waitForLoadState();
  check("the cart has two", (await page.inputValue("[name='updates[]'] >> nth=0")) === "2");
  await page.click("button[name=checkout]");
  await page.waitForURL(`${shop}/checkout`);
}

async function fill(page) {
  await page.fill("#email", "asha@example.com");
  const fields = { first_name: "Asha", last_name: "Rao", line1: "12 MG Road", city: "Bengaluru", postal_code: "560001" };
  for (const [name, value] of Object.entries(fields)) await page.fill(`#ship-${name}`, value);
  await page.selectOption("#ship-region", "KA");
}

async function order(page, width, choice) {
  await page.goto(`${shop}/cart/${variant}:2`);
  await look(page, "checkout", width);
  await fill(page);
  await page.click("#delivery button");
  await page.waitForLoadState();
  await look(page, "checkout-address", width);
  await page.check("input[name=payment][value=stripe]");
  await page.click("button[value=place]");
  await page.waitForURL(`${bank}/**`);
  await page.click(`button[value="${choice}"]`);
  if (choice === "3ds") await page.click("text=Approve");
  await page.waitForURL(`${shop}/orders/**`);
}

/** The address book of the theme, where only the platform's script runs. */
async function addresses(page, width) {
  await page.goto(`${shop}/account/addresses`);
  const form = page.locator("#address_form_new");
  check("the form is closed", !(await form.isVisible()));
  await page.click("[aria-controls=address-new]");
  await look(page, "addresses", width);
  await form.locator("[name='address[address1]']").fill("1 Main Street");
  const [country, province] = ["country", "province"].map((name) => form.locator(`[name='address[${name}]']`));
  await country.selectOption("Germany");
  check("a country without provinces has none", !(await province.isVisible()));
  await country.selectOption("Canada");
  await province.selectOption("Quebec");
  await form.locator("button[type=submit]").click();
  await page.waitForSelector("[role=alert]");
  await look(page, "addresses-mistake", width);
  check("the form is open again", await form.isVisible());
  check("its province is kept", (await province.inputValue()) === "Quebec");
  await form.locator("[name='address[city]']").fill("Montreal");
  await form.locator("[name='address[zip]']").fill("H2Y 1C6");
  await form.locator("button[type=submit]").click();
  const added = page.locator(".address-list li", { hasText: "Montreal" }).first();
  await added.waitFor();
  await added.locator("[aria-expanded]").click();
  check("it is edited in its own province", (await added.locator("[name='address[province]']").inputValue()) === "Quebec");
  page.once("dialog", (dialog) => dialog.accept());
  await added.locator("[data-target]").click();
  await page.waitForFunction(() => !document.body.textContent.includes("Montreal"));
}

for (const [width, colorScheme] of [[360, "light"], [1280, "light"], [1280, "dark"]]) {
  const page = await visitor({ width, colorScheme });
  await choose(page, width);
  await order(page, width, "3ds");
  check("the order is paid", (await page.textContent("h1")) === "Thank you for your order");
  await look(page, "order", width);
  await order(page, width, "decline");
  check("it is said that nothing was charged", (await page.textContent("[role=alert]")).includes("Nothing was charged"));
  await look(page, "declined", width);
  // A mistake: the first wrong field has the focus.
  await page.goto(`${shop}/cart/${variant}:1`);
  await page.fill("#email", "nobody");
  await page.click("button[value=place]");
  await page.waitForSelector("#email-error");
  await look(page, "mistake", width);
  await page.goto(`${shop}/account/login`);
  await look(page, "sign-in", width);
  await page.fill("#email", customer.email);
  await page.fill("#password", customer.password);
  await page.click("form[action='/account/login'] button");
  await page.waitForURL(`${shop}/account`);
  await look(page, "account", width);
  await addresses(page, width);
  await page.goto(`${shop}/account/register`);
  await look(page, "register", width);
  await page.goto(`${shop}/account/privacy`);
  await look(page, "privacy", width);
  const serious = page.faults.filter((fault) => !/40[34]|422/.test(fault));
  check(`no error: ${JSON.stringify(serious)}`, !serious.length);
}

const plain = await visitor({ javaScriptEnabled: false });
await plain.goto(`${shop}/cart/${variant}:1`);
await fill(plain);
await plain.click("#delivery button");
await plain.check("input[name=payment][value=stripe]");
await plain.click("button[value=place]");
await plain.waitForURL(`${bank}/**`);
await plain.click("button[value=pay]");
check("it is paid without a script", (await plain.textContent("h1")) === "Thank you for your order");
await browser.close();
check([...faults].join("\n"), !faults.size);
