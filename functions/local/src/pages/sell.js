
// The forms of the page to sell: each is a call of the API as the demo's merchant.

// How the text of a field becomes a value.
const CONVERTERS = {
  text: (text) => text,
  country: (text) => text,
  integer: (text) => Number(text),
  flag: (text) => text === "true",
  percent: (text) => Math.round(Number(text.replace(",", ".")) * 100),
  list: (text) => text.split(",").map((part) => part.trim()).filter(Boolean),
  amount: (text, form) => ({ amount: inMinorUnits(text, Number(form.dataset.exponent)), currency: form.dataset.currency }),
};

function inMinorUnits(text, exponent) {
  const [, whole, part = ""] = text.trim().match(/^(\d+)(?:[.,](\d*))?$/) ?? [];
  if (whole === undefined || part.length > exponent) throw new Error(`“${text}” is no amount with at most ${exponent} decimals.`);
  return Number(whole + part.padEnd(exponent, "0"));
}

// Sets a member by its path: `rates.0.price`.
function put(body, path, value) {
  const names = path.split(".");
  const last = names.pop();
  let place = body;
  for (const [at, name] of names.entries()) {
    place[name] ??= /^\d+$/.test(names[at + 1] ?? last) ? [] : {};
    place = place[name];
  }
  place[last] = value;
}

function bodyOf(form) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name || field.type === "file" || field.value.trim() === "") continue;
    put(body, field.name, CONVERTERS[field.dataset.as || "text"](field.value.trim(), form));
  }
  return body;
}

async function callApi(form, method, path, body, type = "application/json") {
  const headers = {
    Authorization: `Bearer ${await tokenOf("merchant")}`, "X-Service-Store-Id": form.dataset.store,
    "Idempotency-Key": crypto.randomUUID(),
  };
  if (method !== "GET") headers["Content-Type"] = type;
  if (path === "/v1/stores") delete headers["X-Service-Store-Id"];
  const content = type === "application/json" ? JSON.stringify(body) : body;
  const answer = await fetch(path, { method, headers, body: method === "GET" ? undefined : content });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(json.detail || json.title || answer.statusText), { errors: json.errors ?? [], status: answer.status });
  return json;
}

// What is done for each kind of form.
const KINDS = {
  plain: (form) => callApi(form, form.dataset.method, form.dataset.path, bodyOf(form)),
  async product(form) {
    const { price, quantity, option, values = [], ...product } = bodyOf(form);
    const picture = form.elements.picture.files[0];
    const inventory = { tracked: true, levels: [{ location_id: form.dataset.location, quantity }] };
    const hasChoice = option && values.length > 0;
    product.status = "active";
    if (hasChoice) product.options = [{ name: option, values }];
    product.variants = hasChoice ? values.map((value) => ({ options: [value], price, inventory })) : [{ price, inventory }];
    if (picture) product.images = [{ media_id: (await callApi(form, "POST", "/v1/media", picture, picture.type)).id }];
    return callApi(form, "POST", "/v1/products", product);
  },
  async theme(form) {
    const theme = form.dataset.path.replace(/publish$/, "");
    await callApi(form, "POST", `${theme}install`, {}).catch((error) => { if (error.status !== 409) throw error; });
    const editor = await callApi(form, "GET", `${theme}editor`);
    return callApi(form, "POST", form.dataset.path, { draft_version: editor.draft.version });
  },
  async store(form) {
    const country = form.elements.country.selectedOptions[0].dataset;
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const store = await callApi(form, "POST", "/v1/stores", { ...bodyOf(form), currency: country.currency, locale: country.locale, timezone });
    form.dataset.store = store.id;
    // Whoever sells wants to know of orders: their mails are among those of the local system.
    await callApi(form, "PATCH", `/v1/stores/${store.id}/settings`, { notifications: { owner_alerts: true } }).catch(() => {});
    location.search = new URLSearchParams({ store: store.id });
    return store;
  },
};

// Says what was wrong beside the fields, and of the rest below the form.
function explain(form, error) {
  const rest = [];
  for (const { pointer = "", detail } of error.errors ?? []) {
    const path = pointer.slice(1).replaceAll("/", ".");
    const field = [...form.elements].find((one) => one.name && one.type !== "hidden" && (path === one.name || path.startsWith(`${one.name}.`)));
    if (!field) { rest.push(detail); continue; }
    field.setAttribute("aria-invalid", "true");
    const said = document.createElement("span");
    said.className = "wrong";
    said.textContent = detail;
    field.closest("label").append(said);
  }
  form.querySelector(".outcome").textContent = rest.join(" ") || error.message;
  form.querySelector("[aria-invalid]")?.focus();
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-form]");
  if (!form) return;
  event.preventDefault();
  form.querySelectorAll(".wrong").forEach((said) => said.remove());
  form.querySelectorAll("[aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await KINDS[form.dataset.form](form);
    if (form.dataset.form !== "store") location.reload();
  } catch (error) {
    explain(form, error);
    button.disabled = false;
  }
});
