// Plays shoppers at the demo store's shop: cart, checkout, payment, order and account, on a telephone and on a screen,
// with and without scripts. axe-core looks at every page.
import { asked, check, fill, finish, look, visit, visitor } from "./shop.mjs";

const { shop, variant, bank, customer } = asked;

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
  await page.click(".buy [type=submit]");
  await page.waitForSelector("dialog[open] [data-line]");
  await visit(page, "/cart", "cart", width);
  await page.fill("[name='updates[]'] >> nth=0", "2");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.querySelector("[data-opens-cart]").textContent.includes("(2)"));
  await page.click("button[name=checkout]");
  await page.waitForURL(`${shop}/checkout`);
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
  await page.goto(`${shop}/account/profile`);
  await look(page, "profile", width);
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
// Forms alone: from the product to the checkout.
await plain.goto(`${shop}/products/linen-apron`);
await plain.selectOption("#variant", { index: 2 });
await plain.click(".buy [type=submit]");
await plain.waitForURL(`${shop}/cart`);
await plain.fill("[name='updates[]'] >> nth=0", "2");
await plain.click("button[name=update]");
check("the cart has two", (await plain.inputValue("[name='updates[]'] >> nth=0")) === "2");
await plain.click("button[name=checkout]");
await plain.waitForURL(`${shop}/checkout`);
await finish();
