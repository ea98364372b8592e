// A shopper's way through the demo store's shop, on a screen and on a telephone: home, a filtered list, a product with three
// options, the cart beside the page, checkout, 3-D Secure, the order; then its webhook and its mail. Then the merchant publishes
// another look of the theme, and rolls back.
import { createServer } from "node:http";
import { once } from "node:events";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { asked, browser, check, fill, finish, listen, look, stays, visit, visitor } from "./shop.mjs";

const { shop, bank, api, merchant, mails, documents } = asked;
const PATIENCE = 20_000;
const heard = [];
const receiver = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  heard.push(text);
  response.end();
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");

async function call(method, path, body, headers) {
  const answer = await fetch(api + path, {
    method, body: body && JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }), ...headers },
  });
  check(`${method} ${path} is answered: ${answer.status}`, answer.ok);
  return answer.json();
}

async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  let found;
  while (!(found = await holds())) {
    check(what, Date.now() < end);
    await new Promise((later) => setTimeout(later, 200));
  }
  return found;
}

let token;
token = (await call("POST", "/v1/auth/signin", merchant)).session.access_token;
await call("POST", "/v1/operations/webhook-subscriptions", {
  url: `http://127.0.0.1:${receiver.address().port}/`, event_types: ["order.*"],
});

/** A picture for the documents: what fits the screen, small. */
async function forDocuments(page, name) {
  if (!documents) return;
  await page.evaluate(() => scrollTo(0, 0));
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 });
  writeFileSync(`${documents}/shop-${name}.webp`, Buffer.from(data, "base64"));
}

const here = (page, text) => page.waitForFunction((text) => location.href.includes(text), text);
const focused = (page, selector) => page.evaluate((selector) => Boolean(document.activeElement?.closest(selector)), selector);
const idle = (page, selector) => page.waitForSelector(`${selector}:not([aria-busy])`);

async function list(page, width) {
  await visit(page, "/", "journey-home", width);
  if (width > 1000) await forDocuments(page, "home");
  await page.click("nav >> text=Collections");
  await page.waitForURL(`${shop}/collections`);
  await visit(page, "/collections/all", "journey-list", width);
  await page.evaluate(() => { window.isStillHere = true; });
  const count = () => page.textContent(".count");
  const all = await count();
  await page.click("summary:has-text('Product type')");
  await page.click("label:has-text('Kitchenware')");
  await here(page, "Kitchenware");
  await idle(page, "facet-filters-form");
  check(`the filter leaves less: ${all}, ${await count()}`, (await count()) !== all);
  check("the filter stays open", await page.isVisible("label:has-text('Kitchenware')"));
  await look(page, "journey-filtered", width);
  if (width > 1000) await forDocuments(page, "collection");
  await page.selectOption("#sort", "price-ascending");
  await here(page, "sort_by=price-ascending");
  await idle(page, "facet-filters-form");
  await page.goBack();
  await idle(page, "facet-filters-form");
  await page.goBack();
  await page.waitForFunction((all) => document.querySelector(".count").textContent === all, all);
  await page.goForward();
  await page.waitForSelector(".chip");
  check("nothing was loaded anew", await page.evaluate(() => window.isStillHere));
  await page.click("summary:has-text('Product type')").catch(() => {});
}

async function search(page, width) {
  await page.fill("#header-search", "mug");
  await page.waitForSelector(".suggestions a");
  await look(page, "journey-suggestions", width, {});
  await page.keyboard.press("ArrowDown");
  check("the arrow leads to a suggestion", await focused(page, ".suggestion"));
  await page.keyboard.press("Escape");
  check("Escape leads back", await focused(page, "#header-search"));
  await page.fill("#header-search", "linen ap");
  await page.waitForSelector(".suggestions a:has-text('Linen Apron')");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/products/linen-apron**");
}

async function choose(page, width) {
  await stays(page, "product");
  const picture = () => page.getAttribute(".product-images img >> nth=0", "src");
  const first = await picture();
  const pick = async (value) => {
    await page.click(`variant-selects label:text-is("${value}"), variant-selects label:has-text("${value}")`);
    await idle(page, "product-info");
  };
  const button = page.locator("product-form [type=submit]");
  await pick("Rust");
  await here(page, "variant=");
  check("the picture is that of the variant", (await picture()) !== first);
  check("what is not to be had is marked", await page.isVisible("label.is-unavailable:has-text('Cotton')"));
  await pick("Cotton");
  check("what there is not cannot be bought", await button.isDisabled());
  await look(page, "journey-unavailable", width);
  await pick("Indigo");
  check("what there is can be", await button.isEnabled());
  await pick("Large");
  check("what is sold out cannot", (await button.textContent()).includes("Sold out"));
  await pick("Linen");
  await look(page, "journey-product", width);
}

async function add(page, width) {
  await page.click("product-form [type=submit]");
  await page.waitForSelector("dialog[open] [data-line]");
  check("the focus is in the cart", await focused(page, "dialog"));
  await look(page, "journey-drawer", width, {});
  if (width > 1000) await forDocuments(page, "product");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog:not([open])", { state: "attached" });
  check("the focus is back", await focused(page, "product-form"));
  await page.click("[data-opens-cart]");
  await page.waitForSelector("dialog[open]");
  await page.click("dialog [name=plus]");
  await page.waitForFunction(() => document.querySelector("dialog [name='updates[]']")?.value === "2");
  await idle(page, "dialog cart-items");
  await page.waitForFunction(() => document.querySelector("[data-opens-cart]").textContent.includes("(2)"));
  check("the focus stays at the quantity", await focused(page, "dialog"));
}

/** Orders once, whatever is pressed: twice at once, in another tab, and after the back button. */
async function order(page, width, email) {
  await page.click("dialog [name=checkout]");
  await page.waitForURL(`${shop}/checkout`);
  await fill(page, email);
  await page.click("#delivery button");
  await page.waitForLoadState();
  await page.check("input[name=payment][value=stripe]");
  const other = await page.context().newPage();
  listen(other);
  await other.goto(`${shop}/checkout`);
  await look(page, "journey-checkout", width);
  if (width < 1000) await forDocuments(page, "checkout");
  await page.dblclick("button[value=place]");
  await page.waitForURL(`${bank}/**`);
  await page.click("button[value='3ds']");
  await page.click("text=Approve");
  await page.waitForURL(`${shop}/orders/**`);
  check("the order is paid", (await page.textContent("h1")) === "Thank you for your order");
  await stays(page, "order");
  await look(page, "journey-order", width);
  if (width > 1000) await forDocuments(page, "thank-you");
  const path = new URL(page.url()).pathname;
  await other.click("button[value=place]");
  await other.waitForURL(`${shop}/orders/**`);
  check("another tab leads to the same order", new URL(other.url()).pathname === path);
  await other.goBack();
  check("the back button finds the cart over", new URL(other.url()).pathname === "/cart");
  await other.close();
  return path.split("/").pop();
}

async function after(id, email) {
  const { data } = await call("GET", `/v1/orders?limit=100`);
  const theirs = data.filter((order) => order.email === email);
  check(`there is one order: ${theirs.length}`, theirs.length === 1 && theirs[0].id === id);
  check(`it is paid: ${theirs[0].financial_status}`, theirs[0].financial_status === "paid");
  await until("its webhook arrives", () => heard.some((text) => text.includes(id)));
  const number = theirs[0].number;
  await until("its mail arrives", () => readdirSync(mails).some((name) => {
    const text = readFileSync(`${mails}/${name}`, "utf8");
    return text.includes(email) && text.includes(String(number).replace("#", ""));
  }));
}

/** Another look of the theme goes live, and the one before comes back. */
async function publish(page) {
  const theme = (method, rest, body) => call(method, `/v1/themes/harbor/${rest}`, body);
  const { draft } = await theme("GET", "editor");
  const content = Object.fromEntries(["settings", "sections", "order", "version"].map((name) => [name, draft[name]]));
  const night = { color_background: "#10181f", color_text: "#eef3f5", color_accent: "#7fd1e0", color_accent_text: "#06262e" };
  Object.assign(content.settings, night, { announcement: "Open until midnight" });
  const { version } = (await theme("PUT", "editor/draft", content)).draft;
  const { release } = await theme("POST", "publish", { draft_version: version });
  const shows = async (path, text) => {
    await page.goto(shop + path);
    return (await page.textContent("body")).includes(text);
  };
  await until("the shop shows the new look", () => shows("/", "Open until midnight"));
  for (const path of ["/", "/collections/all", "/products/linen-apron", "/cart"]) {
    await page.goto(shop + path);
    await look(page, `journey-night${path.replaceAll("/", "-")}`, 1280);
  }
  await theme("POST", "rollback", { release: release.number - 1 });
  await until("the shop shows the look before", async () => !(await shows("/", "Open until midnight")));
}

for (const [width, options] of [[1280, {}], [360, { hasTouch: true, isMobile: true }]]) {
  const page = await visitor({ width, ...options });
  const email = `asha-${width}@example.com`;
  await list(page, width);
  await search(page, width);
  await choose(page, width);
  await add(page, width);
  const id = await order(page, width, email);
  await after(id, email);
  check(`no error: ${JSON.stringify(page.faults)}`, !page.faults.length);
  console.log(`journey at ${width} px`);
}
await publish(await visitor());
receiver.close();
receiver.closeAllConnections();
await finish();
