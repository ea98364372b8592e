// Plays an app, and the merchants whom it sends to the consent page: openid-client as it comes, and Chromium.
import { createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import * as oauth from "openid-client";
import { chromium } from "playwright-core";

const { url, app, merchant, mails, pictures, browser: executablePath } = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const redirect = new URL(app.redirect_uri);
const allowed = [new URL(url).origin, redirect.origin];
const FIRST = "read_store write_products read_orders";
const SECOND = "write_store read_products read_customers";

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
}

// A page of somebody else, which tries to frame the consent page.
const server = createServer((_, answer) => {
  answer.setHeader("Content-Type", "text/html");
  answer.end(`<!doctype html><title>Frame</title><iframe src="${url}/v1/app-store/oauth/authorize"></iframe>`);
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const elsewhere = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

const config = await oauth.discovery(new URL(url), app.client_id, app.client_secret, undefined, {
  algorithm: "oauth2",
  execute: [oauth.allowInsecureRequests],
});
check("the client finds that PKCE is supported", config.serverMetadata().supportsPKCE());

/** A request as openid-client makes it; without a state, because PKCE takes its part. */
async function begin(scope) {
  const verifier = oauth.randomPKCECodeVerifier();
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const parameters = { redirect_uri: app.redirect_uri, scope, code_challenge, code_challenge_method: "S256" };
  return { verifier, link: oauth.buildAuthorizationUrl(config, parameters).href };
}

/** A page at this link, and what it does that it should not. */
async function open(link, { width = 1280, colorScheme = "light", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme, ...options });
  // The app's own server.
  await context.route(`${redirect.origin}/**`, (route) => route.fulfill({ contentType: "text/html", body: "Back." }));
  const page = await context.newPage();
  page.faults = [];
  page.tokens = new Set();
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("request", (request) => {
    if (!allowed.includes(new URL(request.url()).origin)) page.faults.push(`it asks ${request.url()}`);
    const { authorization, cookie } = request.headers();
    if (authorization) page.tokens.add(authorization);
    if (cookie) page.faults.push("it sends a cookie");
  });
  await page.goto(link);
  return page;
}

const step = (page, name) => page.waitForSelector(`[data-step="${name}"]:not([hidden])`);
const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);

/** Nothing is wider than the screen, and axe finds nothing. */
async function inspect(page, name) {
  const { scroll, inner } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    inner: innerWidth,
  }));
  check(`${name} fits: ${scroll} in ${inner}`, scroll <= inner);
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => axe.run());
  check("axe has rules for it", passes.length > 10);
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  check(`axe finds nothing on ${name}: ${found.join("\n")}`, !found.length);
}

/** Chromium's report of an answer that is meant to be a rejection. */
function forgive(page, status) {
  page.faults = page.faults.filter((fault) => !fault.includes(`status of ${status}`));
}

/** Nothing went wrong, and the page's session has ended. */
async function finish(page, name) {
  check(`${name}: ${page.faults.join("; ")}`, !page.faults.length);
  for (const authorization of page.tokens) {
    const { status } = await fetch(`${url}/v1/auth/me`, { headers: { authorization } });
    check(`${name}: its session has ended`, status === 401);
  }
  check(`${name} leaves no cookie`, !(await page.context().cookies()).length);
  await page.context().close();
}

async function signIn(page) {
  await page.fill("#email", merchant.email);
  await page.fill("#password", merchant.password);
  await page.keyboard.press("Enter");
}

/** Waits for the comparison with what the app had before. */
async function compared(page) {
  await step(page, "consent");
  await page.waitForFunction(() => document.getElementById("note").textContent);
  return page.textContent("#note");
}

async function back(page) {
  await page.waitForURL((at) => at.href.startsWith(app.redirect_uri));
  return new URL(page.url());
}

/** The error that the client is told. */
async function rejection(returned, verifier) {
  const outcome = await oauth.authorizationCodeGrant(config, returned, { pkceCodeVerifier: verifier }).catch((it) => it);
  return outcome.error;
}

async function approved() {
  const { verifier, link } = await begin(FIRST);
  const page = await open(link);
  await inspect(page, "the sign-in");
  check("nothing is asked before somebody signs in", !page.tokens.size);
  // By keyboard alone.
  await page.focus("#email");
  await page.keyboard.type(merchant.email);
  await page.keyboard.press("Tab");
  check("the password is next", (await focused(page)) === "password");
  await page.keyboard.type(merchant.password);
  await page.keyboard.press("Enter");
  check("it says that the app is new", (await compared(page)).includes("no access to this store yet"));
  check("the heading has the focus", (await focused(page)) === "H2");
  check("nothing is marked as new", !(await page.isVisible(".new")));
  const shown = await page.innerText("main");
  for (const part of [app.name, "Products, variants and collections", redirect.host, merchant.email, "demo-store"]) {
    check(`it shows ${part}`, shown.includes(part));
  }
  await inspect(page, "the decision");
  await page.locator("main").screenshot({ path: `${pictures}/consent.png` });
  const store = await page.inputValue("#store");
  await page.click("#approve");
  const tokens = await oauth.authorizationCodeGrant(config, await back(page), { pkceCodeVerifier: verifier });
  check("the token has the scopes", tokens.scope.split(" ").sort().join() === FIRST.split(" ").sort().join());
  const read = await oauth.fetchProtectedResource(config, tokens.access_token, new URL(`${url}/v1/stores/${store}`), "GET");
  check("the token is used", read.status === 200 && (await read.json()).id === store);
  const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token);
  check("the token is renewed", renewed.access_token !== tokens.access_token);
  check("it had a session", page.tokens.size === 1);
  await finish(page, "approving");
}

async function denied() {
  const { verifier, link } = await begin(SECOND);
  const page = await open(link, { width: 360, colorScheme: "dark" });
  await inspect(page, "the sign-in on a telephone");
  await signIn(page);
  check("it says that something changes", (await compared(page)).includes("What changes is marked"));
  const added = await page.locator("li:has(.new:visible)").evaluateAll((all) => all.map((it) => it.dataset.scope));
  check(`what is new is marked: ${added}`, added.join() === "write_store,read_customers");
  const dropped = (await page.innerText("#dropped ul")).split("\n");
  check(`what is dropped is listed: ${dropped}`, dropped.join() === "View orders,View and change products, variants and collections");
  await inspect(page, "the decision on a telephone");
  await page.screenshot({ path: `${pictures}/consent-telephone.png`, fullPage: true });
  await page.click("#deny");
  check("the app is told so", (await rejection(await back(page), verifier)) === "access_denied");
  await finish(page, "denying");
}

async function cancelled() {
  const { verifier, link } = await begin(FIRST);
  for (const javaScriptEnabled of [true, false]) {
    const page = await open(link, { width: 1600, javaScriptEnabled });
    check("it says what it needs", (await page.isVisible("noscript")) === !javaScriptEnabled);
    await page.click('a:visible:text("Cancel")');
    check("the app is told so", (await rejection(await back(page), verifier)) === "access_denied");
    await finish(page, "cancelling");
  }
}

async function wrong() {
  const page = await open((await begin(FIRST)).link, { width: 360 });
  await page.fill("#email", merchant.email);
  await page.fill("#password", "not the password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#message:not([hidden])");
  check("it is announced", (await page.getAttribute("#message", "role")) === "alert");
  check("the password has the focus", (await focused(page)) === "password");
  check("it is marked", (await page.getAttribute("#password", "aria-invalid")) === "true");
  await inspect(page, "a rejection");
  forgive(page, 401);
  await page.reload();
  check("it can be tried again", await page.isVisible("#password"));
  await finish(page, "a wrong password");
}

function newestCode() {
  const texts = readdirSync(mails).sort().reverse().map((name) => readFileSync(`${mails}/${name}`, "utf8"));
  const codes = texts.filter((text) => text.includes(merchant.email)).map((text) => /^Code: (\d{6})/m.exec(text)?.[1]);
  return codes.find(Boolean);
}

async function byCode() {
  const page = await open((await begin(FIRST)).link);
  await page.fill("#email", merchant.email);
  await page.click("#mail-code");
  await step(page, "code");
  check("the code has the focus", (await focused(page)) === "code-input");
  await inspect(page, "the code");
  let code;
  for (let i = 0; i < 150 && !(code = newestCode()); i += 1) await new Promise((later) => setTimeout(later, 100));
  await page.fill("#code-input", code);
  await page.keyboard.press("Enter");
  check("nothing changes", (await compared(page)).includes("Nothing changes"));
  // Whoever leaves the page is signed out as well.
  await page.goto(`${redirect.origin}/left`);
  await new Promise((later) => setTimeout(later, 1000));
  await finish(page, "a mailed code");
}

async function bySecondFactor() {
  const call = async (path, token, body) => {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${url}/v1/auth/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    check(`${path} answers: ${answer.status}`, answer.ok);
    return answer.json();
  };
  const { session } = await call("signin", null, { email: merchant.email, password: merchant.password });
  const enrolled = await call("mfa/totp", session.access_token, { current_password: merchant.password });
  await call("mfa/totp/confirm", session.access_token, { code: totp(new URL(enrolled.secret_uri).searchParams.get("secret")) });
  const page = await open((await begin(FIRST)).link);
  await signIn(page);
  await step(page, "totp");
  check("the second factor has the focus", (await focused(page)) === "totp-input");
  await inspect(page, "the second factor");
  await page.fill("#totp-input", enrolled.recovery_codes[0]);
  await page.keyboard.press("Enter");
  await compared(page);
  forgive(page, 403);
  await page.click("#other-account");
  await step(page, "password");
  await finish(page, "a second factor");
}

/** A code of RFC 6238 with its defaults. */
function totp(secret) {
  const value = (letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  const bits = [...secret.replace(/=+$/, "")].map(value).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", key).update(counter).digest();
  const offset = digest[19] & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

async function framed() {
  const page = await open(elsewhere);
  await page.waitForTimeout(500);
  const inner = page.frames().map((each) => each.url()).slice(1);
  check(`it is in no frame: ${inner}`, inner.length === 1 && inner[0].startsWith("chrome-error:"));
  await page.context().close();
}

async function nowhere() {
  const link = new URL((await begin(FIRST)).link);
  link.searchParams.set("redirect_uri", "https://evil.example/");
  const page = await open(link.href, { width: 360 });
  check("it leads nowhere", !(await page.locator("a, button, form").count()) && page.url() === link.href);
  await inspect(page, "the error page");
  forgive(page, 400);
  await finish(page, "the error page");
}

try {
  for (const part of [approved, denied, cancelled, wrong, byCode, bySecondFactor, framed, nowhere]) {
    await part();
    console.log(`consent page: ${part.name}`);
  }
} finally {
  await browser.close();
  server.close();
}
