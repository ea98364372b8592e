// The script of the local pages: copying, tokens, what refreshes itself, and the search of the reference.
"use strict";

// The tokens of the demo's accounts, for as long as this page is open.
const tokens = new Map();

async function tokenOf(who) {
  if (!tokens.has(who)) {
    const answer = await fetch("/_local/tokens", { method: "POST", body: new URLSearchParams({ who }) });
    if (!answer.ok) throw new Error("The account cannot be signed in.");
    tokens.set(who, (await answer.json()).access_token);
  }
  return tokens.get(who);
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Pages at another name than localhost have no clipboard.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function say(button, text) {
  const before = button.textContent;
  button.textContent = text;
  setTimeout(() => { button.textContent = before; }, 1200);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-token]");
  if (!button) return;
  try {
    if (button.dataset.token) {
      tokens.delete(button.dataset.token);
      const token = await tokenOf(button.dataset.token);
      await copy(token);
      button.nextElementSibling.textContent = `Copied ${token.slice(0, 4)}•••••• to the clipboard`;
    } else {
      await copy(button.dataset.copy);
      say(button, "Copied");
    }
  } catch (error) {
    say(button, error.message || "Not copied");
  }
});

// Posts to the API as the demo's merchant.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-post]");
  if (!button) return;
  button.disabled = true;
  let outcome;
  try {
    const headers = {
      Authorization: `Bearer ${await tokenOf("merchant")}`, "X-Service-Store-Id": button.dataset.store,
      "Idempotency-Key": crypto.randomUUID(),
    };
    const answer = await fetch(button.dataset.post, { method: "POST", headers });
    outcome = answer.ok ? "Sent" : (await answer.json()).title;
  } catch (error) {
    outcome = error.message || "Not sent";
  }
  button.disabled = false;
  button.nextElementSibling.textContent = outcome;
  say(button, outcome);
});

// Replaces a part of the page by its newest state, while somebody can see it and does not work in it.
async function refresh(part) {
  if (document.hidden || part.querySelector(":focus-visible") || String(getSelection())) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById(part.id);
  if (next && next.innerHTML !== part.innerHTML) part.innerHTML = next.innerHTML;
}

for (const part of document.querySelectorAll("[data-refresh]")) {
  setInterval(refresh, Number(part.dataset.refresh), part);
}

// The list of requests follows what happens.
const live = document.querySelector("[data-live]");
const ROWS = 500;

async function follow() {
  if (document.hidden || !document.querySelector("[data-pause]").checked) return;
  const query = new URLSearchParams(location.search);
  query.set("after", live.dataset.newest);
  const answer = await fetch(`${live.dataset.live}?${query}`).catch(() => null);
  if (!answer?.ok) return;
  // The numbers of requests begin anew with the system.
  const newest = Number(answer.headers.get("x-newest"));
  if (newest < Number(live.dataset.newest)) return location.reload();
  live.dataset.newest = newest;
  const rows = await answer.text();
  if (!rows) return;
  const body = live.querySelector("tbody");
  body.insertAdjacentHTML("afterbegin", rows);
  while (body.rows.length > ROWS) body.lastElementChild.remove();
  live.querySelector("table").hidden = false;
  live.querySelector(".empty")?.remove();
}

if (live) setInterval(follow, 1000);
