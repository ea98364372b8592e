// Plays the demo's merchant, who installs the example app and uses it, alone and embedded.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { url, app, admin, hooks, merchant, pictures, browser: executablePath } = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
}

async function call(method, path, { token, body } = {}) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  headers["Idempotency-Key"] = crypto.randomUUID();
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  check(`${method} ${path}: ${answer.status}`, answer.ok);
  return answer.json();
}

const { session } = await call("POST", "/v1/auth/signin", { body: merchant });
const token = session.access_token;
const shop = "/v1/storefront/demo-store";

/** An order of a guest, paid. */
async function paidOrder() {
  const { data } = await call("GET", `${shop}/products?limit=10`);
  const { handle } = data.find(({ in_stock }) => in_stock);
  const { variants } = await call("GET", `${shop}/products/${handle}`);
  const address = { first_name: "Gita", last_name: "Rao", line1: "1 MG Road", city: "Bengaluru", region: "KA", postal_code: "560001", country: "IN" };
  const items = [{ variant_id: variants[0].id, quantity: 2 }];
  const body = { email: "guest@example.com", items, shipping_address: address, payment: { provider: "manual" } };
  const { order } = await call("POST", `${shop}/orders`, { body });
  await call("POST", `/v1/orders/${order.id}/mark-paid`, { token, body: {} });
  return order;
}

/** A browser of its own, at this size, and what its pages do that they should not. */
async function open(link, width = 1280) {
  const colorScheme = width < 500 ? "dark" : "light";
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("request", (request) => {
    if (![url, app, admin].includes(new URL(request.url()).origin)) page.faults.push(`it asks ${request.url()}`);
  });
  await page.goto(link);
  return page;
}

function forgive(page, status) {
  page.faults = page.faults.filter((fault) => !fault.includes(`status of ${status}`));
}

async function finish(page, name) {
  check(`${name}: ${page.faults.join("; ")}`, !page.faults.length);
  await page.context().close();
}

/** Nothing is wider than the screen, and axe finds nothing, in frames either. */
async function inspect(page, name) {
  for (const frame of page.frames()) {
    const { scroll, inner } = await frame.evaluate(() => ({ scroll: document.documentElement.scrollWidth, inner: innerWidth }));
    check(`${name} fits: ${scroll} in ${inner}`, scroll <= inner);
    await frame.evaluate(axe);
    const { violations } = await frame.evaluate(() => axe.run());
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
    check(`axe finds nothing on ${name}: ${found.join("\n")}`, !found.length);
  }
}

/** As far as the merchant's decision at the gateway. */
async function decide(page, button) {
  await page.waitForURL((at) => at.href.startsWith(`${url}/v1/app-store/oauth/authorize`));
  await page.fill("#email", merchant.email);
  await page.fill("#password", merchant.password);
  await page.keyboard.press("Enter");
  await page.waitForSelector('[data-step="consent"]:not([hidden])');
  await page.waitForFunction(() => document.getElementById("note").textContent);
  await page.click(button);
  await page.waitForURL((at) => at.origin === app);
}

const text = (where, expected) => where.waitForSelector(`text=${expected}`);

async function denied() {
  const page = await open(`${admin}/`, 360);
  await inspect(page, "the admin without the app");
  await page.click("text=Install it");
  await decide(page, "#deny");
  await text(page, "Nothing has changed on your store.");
  check("it is a page like any other", await page.isVisible("text=Install on a store"));
  await inspect(page, "the denial");
  await page.goto(`${app}/`);
  await text(page, "The app is not connected to a store here.");
  await inspect(page, "the app without a store");
  forgive(page, 401);
  await finish(page, "denying");
}

async function foreign() {
  // The link of somebody else's installation.
  const page = await open(`${app}/auth/callback?code=cod_x&state=x&iss=${encodeURIComponent(url)}`);
  await text(page, "This installation was not begun in this browser");
  forgive(page, 400);
  await finish(page, "a foreign answer");
}

async function installed() {
  const page = await open(`${app}/auth`);
  await decide(page, "#approve");
  check(`no code is left in the address: ${page.url()}`, page.url() === `${app}/`);
  await text(page, "Nothing to pack.");
  const cookies = (await page.context().cookies()).map(({ name, secure, httpOnly }) => `${name} ${secure} ${httpOnly}`);
  check(`the session alone is left: ${cookies}`, cookies.join() === "session false true");

  const order = await paidOrder();
  const isVerified = async () => {
    await page.reload();
    await page.waitForFunction(() => document.getElementById("message").textContent !== "Loading …");
    return (await page.innerText("main")).includes(`order.paid ${order.number}`);
  };
  for (let i = 0; !(await isVerified()); i += 1) {
    check("the webhook arrives within ten seconds", i < 40);
    await page.waitForTimeout(250);
  }
  const item = page.locator(`[data-order="${order.number}"]`);
  check("it says what to pick", (await item.innerText()).includes("2 ×") && (await item.innerText()).includes("Bengaluru"));
  await inspect(page, "the orders");
  await page.screenshot({ path: `${pictures}/example-app.png`, fullPage: true });
  await item.locator("button").click();
  await text(page, `Order ${order.number} is packed. Nothing to pack.`);
  check("the message has the focus", (await page.evaluate(() => document.activeElement.id)) === "message");
  const { metadata } = await call("GET", `/v1/orders/${order.id}`, { token });
  check("the order says so", metadata.packing_list_packed_at);
  const forged = await fetch(hooks, { method: "POST", body: "{}", headers: { "x-service-store-id": order.store_id } });
  check("a forged webhook is rejected", forged.status === 401);
  await finish(page, "the app alone");
}

async function embedded() {
  const order = await paidOrder();
  for (const width of [1280, 360]) {
    const page = await open(`${admin}/`, width);
    const bridged = page.waitForResponse((response) => response.url() === `${admin}/messages` && response.request().postData().includes("bridge"));
    const frame = await (await page.waitForSelector("#app")).contentFrame();
    await text(frame, `Order ${order.number}`);
    await frame.waitForFunction(() => document.getElementById("store").textContent);
    const { status, body } = await (await bridged).json();
    check("the bridge answers as the app", status === 200 && body.name === (await frame.innerText("#store")));
    check("it has no cookie", !(await page.context().cookies()).length);
    await inspect(page, "the embedded app");
    await page.screenshot({ path: `${pictures}/example-app-embedded-${width}.png` });
    if (width === 360) {
      await frame.click(`[aria-label="Mark as packed: order ${order.number}"]`);
      await text(frame, `Order ${order.number} is packed.`);
    }
    // A page that is no admin gets no answer: not by a message, and not by a request.
    const [other] = await Promise.all([page.context().waitForEvent("page"), page.evaluate(() => void window.open("about:blank"))]);
    const heard = await other.evaluate(async (origin) => {
      let answers = 0;
      addEventListener("message", () => (answers += 1));
      window.opener.postMessage({ id: "1", type: "token" }, origin);
      await new Promise((later) => setTimeout(later, 300));
      return answers;
    }, admin);
    check("a foreign window is not answered", heard === 0);
    await finish(page, "the embedded app");
  }
  const stranger = await fetch(`${admin}/messages`, { method: "POST", headers: { Origin: "https://evil.example" }, body: '{"type":"token"}' });
  check("a foreign request gets no token", stranger.status === 403);
  const unknown = await fetch(`${hooks.replace("/webhooks", "")}/api/orders`, { headers: { Authorization: `Bearer ${token}` } });
  check("a merchant's session is no token of the app", unknown.status === 401);
}

async function uninstalled() {
  const { data: [store] } = await call("GET", "/v1/stores", { token });
  const headers = { Authorization: `Bearer ${token}`, "X-Service-Store-Id": store.id };
  const { data } = await (await fetch(`${url}/v1/app-store/installations`, { headers })).json();
  await call("POST", `/v1/app-store/installations/${data.find(({ status }) => status === "active").id}/uninstall`, { token, body: {} });
  const page = await open(`${admin}/`);
  await text(page, "The app is not installed on the demo store.");
  await page.click("text=Install it");
  await decide(page, "#approve");
  await text(page, "Nothing to pack.");
  await finish(page, "installing it again");
}

try {
  for (const part of [denied, foreign, installed, embedded, uninstalled]) {
    await part();
    console.log(`example app: ${part.name}`);
  }
} finally {
  await browser.close();
}
