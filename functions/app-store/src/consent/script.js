"use strict";
const known = JSON.parse(document.getElementById("request").textContent);
// This page is /v1/app-store/oauth/authorize, below whatever path the API has.
const API = new URL("../../", location.href);
const byId = (id) => document.getElementById(id);

// All of the session: it is in no cookie and in no storage, and ends with the page.
let token = null;
let challenge = null;
let secondFactor = null;
let isBusy = false;
// Counts the choices of a store, so that a late answer about an earlier one is not shown.
let choice = 0;

class Rejected extends Error {
  constructor(problem) {
    const details = (problem.errors ?? []).map((error) => error.detail);
    super(details.join(" ") || problem.detail || problem.title || "Something went wrong. Try again.");
    this.problem = problem;
  }
}

async function call(method, path, body, store) {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  if (store) headers["X-Service-Store-Id"] = store;
  const options = { method, headers, body: body && JSON.stringify(body), credentials: "omit", cache: "no-store" };
  let answer, content;
  try {
    answer = await fetch(new URL(path, API), options);
    content = JSON.parse((await answer.text()) || "null");
  } catch {
    throw new Rejected({ detail: "The service could not be reached. Try again." });
  }
  if (!answer.ok) throw new Rejected(content ?? {});
  return content;
}

async function* pages(path, store) {
  let cursor = null;
  do {
    const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const { data, page } = await call("GET", `${path}?limit=100${at}`, null, store);
    yield* data;
    cursor = page.next_cursor;
  } while (cursor);
}

// Steps, and what is said about them.

function show(step) {
  say("");
  for (const section of document.querySelectorAll("[data-step]")) section.hidden = section.dataset.step !== step;
  const section = document.querySelector(`[data-step="${step}"]`);
  const title = section.querySelector("h2");
  byId("status").textContent = title.textContent;
  (section.querySelector("input") ?? title).focus();
}

function say(text) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
  for (const input of document.querySelectorAll("input")) input.removeAttribute("aria-invalid");
}

function fail(error) {
  const { code, mfa_token } = error.problem ?? {};
  if (code === "mfa_required" && mfa_token) {
    secondFactor = mfa_token;
    return show("totp");
  }
  if (token && code === "unauthenticated") {
    token = null;
    show("password");
    return say("Your session has ended. Sign in again.");
  }
  if (code === "invalid_or_expired_token") {
    show("password");
    return say("That took too long. Sign in again.");
  }
  say(error.message);
  const input = document.querySelector("[data-step]:not([hidden]) input:last-of-type");
  if (input) {
    input.setAttribute("aria-invalid", "true");
    input.focus();
  }
}

/** Runs one action at a time, and says what went wrong. */
function on(id, event, action) {
  const target = typeof id === "string" ? byId(id) : id;
  target.addEventListener(event, async (happened) => {
    happened.preventDefault();
    if (isBusy) return;
    isBusy = true;
    document.body.setAttribute("aria-busy", "true");
    say("");
    try {
      await action();
    } catch (error) {
      fail(error);
    } finally {
      isBusy = false;
      document.body.removeAttribute("aria-busy");
    }
  });
}

// Signing in and out.

async function signedIn({ session, merchant }) {
  token = session.access_token;
  challenge = secondFactor = null;
  byId("account").textContent = merchant.email;
  for (const form of document.forms) form.reset();
  const options = [];
  for await (const store of pages("stores")) {
    if (store.role === "owner" || store.role === "admin") {
      options.push(new Option(`${store.name} (${store.subdomain})`, store.id));
    }
  }
  byId("store").replaceChildren(...options);
  if (!options.length) return show("none");
  show("consent");
  await compare();
}

/** Ends the session; `keepalive` lets the request outlive the page. */
async function signOut() {
  if (!token) return;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  token = null;
  const options = { method: "POST", headers, body: "{}", credentials: "omit", keepalive: true };
  await fetch(new URL("auth/signout", API), { ...options, signal: AbortSignal.timeout(5000) }).catch(() => {});
}

async function startAgain() {
  await signOut();
  challenge = secondFactor = null;
  show("password");
}

async function mailCode() {
  challenge = (await call("POST", "auth/signin/otp", { email: byId("email").value })).challenge_id;
  show("code");
}

on("password-form", "submit", async () => {
  const asked = { email: byId("email").value, password: byId("password").value };
  await signedIn(await call("POST", "auth/signin", asked));
});
on("mail-code", "click", async () => {
  if (byId("email").reportValidity()) await mailCode();
});
on("code-form", "submit", async () => {
  const asked = { challenge_id: challenge, code: byId("code-input").value.trim() };
  await signedIn(await call("POST", "auth/signin/otp/verify", asked));
});
on("code-other", "click", mailCode);
on("totp-form", "submit", async () => {
  const asked = { mfa_token: secondFactor, totp: byId("totp-input").value.trim() };
  await signedIn(await call("POST", "auth/signin", asked));
});
on("totp-other", "click", startAgain);
for (const back of document.querySelectorAll("[data-start]")) on(back, "click", startAgain);
on("other-account", "click", startAgain);
on("another-account", "click", startAgain);

// The decision.

/** Whether scopes include this one: `write_x` includes `read_x`. */
const covers = (scopes, scope) => scopes.includes(scope) || scopes.includes(scope.replace(/^read_/, "write_"));

/** What the app may do on the chosen store already, with explanations; nothing if it is not active there. */
async function granted(store) {
  for await (const installation of pages("app-store/installations", store)) {
    if (installation.app_id !== known.app_id || installation.status === "pending") continue;
    return (await call("GET", `app-store/installations/${installation.id}/scopes`, null, store)).granted;
  }
  return null;
}

/** Marks what is new on the chosen store, and lists what is no longer asked for. */
async function compare() {
  const mine = ++choice;
  const items = [...document.querySelectorAll("[data-scope]")];
  for (const item of items) item.querySelector(".new").hidden = true;
  byId("dropped").hidden = true;
  byId("note").textContent = "";
  const before = await granted(byId("store").value);
  if (mine !== choice) return;
  if (!before) {
    byId("note").textContent = "The app has no access to this store yet.";
    return;
  }
  const had = before.map(({ scope }) => scope);
  const asked = items.map((item) => item.dataset.scope);
  const added = items.filter((item) => !covers(had, item.dataset.scope));
  for (const item of added) item.querySelector(".new").hidden = false;
  const dropped = before.filter(({ scope }) => !covers(asked, scope)).map(({ explanation }) => {
    const item = document.createElement("li");
    item.textContent = explanation;
    return item;
  });
  byId("dropped").querySelector("ul").replaceChildren(...dropped);
  byId("dropped").hidden = !dropped.length;
  const changes = added.length || dropped.length ? "What changes is marked." : "Nothing changes.";
  byId("note").textContent = `The app has access to this store already. ${changes}`;
}

async function decide(operation, fields) {
  const path = `app-store/apps/${known.app_id}/oauth/${operation}`;
  const { redirect_to } = await call("POST", path, fields, byId("store").value);
  show("leaving");
  await signOut();
  location.replace(redirect_to);
}

on("store", "change", compare);
on("approve", "click", () => decide("authorize", known.approve));
on("deny", "click", () => decide("deny", known.deny));

addEventListener("pagehide", signOut);
// The session has ended: a page that the browser kept starts anew.
addEventListener("pageshow", (event) => event.persisted && location.reload());
document.querySelector('[data-step="password"]').hidden = false;
