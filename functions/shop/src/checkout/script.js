// What makes the checkout more comfortable; every page works without it.
document.documentElement.classList.add("js");
const PLACE = "checkout-place";
const SENT = "checkout-address";
// Some browsers forbid it: then nothing is sent by itself.
const memory = (() => { try { return sessionStorage; } catch { return undefined; } })();

// What a field has that a shopper can change; none of other fields.
const stateOf = (field) => {
  if (/^(radio|checkbox)$/.test(field.type)) return field.checked;
  return field.matches("input:not([type=hidden]), textarea, select") ? field.value : undefined;
};

let timer = 0;

// Sends a form as if a button was pressed; the page comes back where it was left, with what is changed meanwhile.
const send = (form, step) => {
  clearTimeout(timer);
  timer = 0;
  const sent = new Map([...form.elements].map((field) => [field.id, stateOf(field)]));
  addEventListener("pagehide", () => {
    const changed = [...form.elements].filter((field) => field.id && stateOf(field) !== sent.get(field.id));
    const fields = changed.map((field) => [field.id, stateOf(field)]);
    const place = { cart: form.elements.cart?.value, id: document.activeElement?.id, top: scrollY, fields };
    memory?.setItem(PLACE, JSON.stringify(place));
  }, { once: true });
  const act = document.createElement("input");
  Object.assign(act, { type: "hidden", name: "act", value: `to:${step}` });
  form.append(act);
  form.submit();
  // A button that is pressed before the page has come says what it means.
  act.remove();
};

const rated = document.querySelector("form[data-rates]");

// A short name of a text, which does not tell it.
const digest = (text) => [...text].reduce((sum, c) => (Math.imul(sum, 31) + c.codePointAt(0)) | 0, 7).toString(36);

// The address with the cart that it is for; none while it is incomplete.
const whole = () => {
  const other = rated.elements.bill_choice?.value === "other";
  const names = other ? /^(ship|bill)\[/ : /^ship\[/;
  const fields = [...rated.elements].filter((field) => names.test(field.name));
  const lacks = (field) => (field.required || /^ship\[(line1|city)\]/.test(field.name)) && !field.value.trim();
  if (fields.some(lacks)) return undefined;
  return digest(JSON.stringify([rated.elements.cart.value, ...fields.map((field) => [field.name, field.value.trim()])]));
};
// What the page has come with.
const known = rated && whole();

const place = JSON.parse(memory?.getItem(PLACE) ?? "null");
memory?.removeItem(PLACE);
const isBack = place && place.cart === document.querySelector("[name=cart]")?.value;
const wrong = document.querySelector("[aria-invalid]") ?? (isBack ? null : document.querySelector("[role=alert]"));
for (const [id, state] of isBack ? place.fields : []) {
  const field = document.getElementById(id);
  if (typeof state === "boolean" && field) field.checked = state;
  else if (field) field.value = state;
}
if (isBack && !wrong) {
  if (place.id) document.getElementById(place.id)?.focus({ preventScroll: true });
  // The address may name a part of the page, to which the browser has its own way.
  addEventListener("load", () => scrollTo(0, place.top), { once: true });
} else {
  wrong?.focus();
}

for (const input of document.querySelectorAll("[data-submits]")) {
  input.addEventListener("change", () => send(input.form, input.dataset.submits));
}

// Shipping rates follow a complete address, once for each: an address that was sent is not sent again.
if (rated && memory) {
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      const address = whole();
      if (!address || address === memory.getItem(SENT)) return;
      memory.setItem(SENT, address);
      send(rated, "rates");
    }, 700);
  };
  // What the page has come with is known, if the cart has an address: rates are of it, or there are none.
  if (known && rated.dataset.rates === "known") memory.setItem(SENT, known);
  if (whole() && !wrong) later();
  rated.addEventListener("change", ({ target }) => {
    if (/^(ship|bill)\[/.test(target.name) && !target.dataset.submits) later();
  });
  // Whoever types on is not interrupted.
  rated.addEventListener("input", () => { if (timer) later(); });
  rated.addEventListener("submit", () => clearTimeout(timer));
}

// A second press while the first is on its way.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
