// What themes' scripts do on pages of an account, where none of them runs: it opens and closes forms, offers the regions of a
// country, and asks before it deletes. Everything is found by its markup.
(() => {
  // Style sheets that themes load last say so by a handler, which the platform has renamed: it is a script of the theme.
  const apply = () => {
    for (const sheet of document.querySelectorAll("link[rel=stylesheet][media=print][data-onload]")) sheet.media = "all";
  };
  apply();
  addEventListener("DOMContentLoaded", apply);
  const named = (id) => (id ? document.getElementById(id) : null);
  const part = (button) =>
    named(button.getAttribute("aria-controls")) ??
    named(`EditAddress_${button.dataset.formId}`) ?? button.nextElementSibling;
  const set = (button, isOpen) => {
    button.setAttribute("aria-expanded", String(isOpen));
    const target = part(button);
    if (!target) return;
    target.hidden = !isOpen && target.dataset.wasHidden === "yes";
    target.classList.toggle("hide", !isOpen && target.dataset.hadClass === "yes");
    if (isOpen) target.querySelector("input:not([type=hidden]), select")?.focus();
  };
  const toggles = [...document.querySelectorAll("button[aria-expanded], [class*=edit-toggle], [class*=new-toggle]")];
  const owners = toggles.filter((button) => part(button)?.querySelector("form[action*='/account/']"));
  for (const button of owners) {
    const target = part(button);
    if (target.hidden) target.dataset.wasHidden = "yes";
    if (target.classList.contains("hide")) target.dataset.hadClass = "yes";
    button.addEventListener("click", () => set(button, button.getAttribute("aria-expanded") !== "true"));
    for (const cancel of target.querySelectorAll("button[type=reset], [data-cancel]")) {
      cancel.addEventListener("click", () => {
        set(button, false);
        button.focus();
      });
    }
  }
  for (const button of document.querySelectorAll("button[data-target], [data-confirm-message][data-target]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      const message = button.dataset.confirmMessage;
      if (message && !confirm(message)) return;
      const form = document.createElement("form");
      const method = document.createElement("input");
      Object.assign(form, { method: "post", action: button.dataset.target, hidden: true });
      Object.assign(method, { type: "hidden", name: "_method", value: "delete" });
      form.append(method);
      document.body.append(form);
      form.submit();
    });
  }
  const data = named("platform-regions");
  const regions = data ? JSON.parse(data.textContent) : {};
  const choose = (select, wanted) => {
    const found = [...select.options].find((option) => option.value === wanted || option.text === wanted);
    if (found) found.selected = true;
  };
  for (const country of document.querySelectorAll("select[name='address[country]']")) {
    const region = country.form?.elements["address[province]"];
    choose(country, country.dataset.default);
    if (!region || region.tagName !== "SELECT") continue;
    const container = named(region.id.replace("Province", "ProvinceContainer"));
    const box = container && container !== region ? container : region.parentElement;
    const offer = () => {
      const own = country.selectedOptions[0]?.dataset.provinces;
      const names = regions[country.value] ?? (own ? JSON.parse(own).map((pair) => pair[1]) : []);
      region.replaceChildren(...names.map((name) => new Option(name, name)));
      box.style.display = names.length ? "" : "none";
      choose(region, region.dataset.default);
    };
    country.addEventListener("change", offer);
    country.form.addEventListener("reset", () => setTimeout(() => {
      choose(country, country.dataset.default);
      offer();
    }));
    offer();
  }
  const alert = document.querySelector("[role=alert][data-form]");
  const rejected = alert ? named(alert.dataset.form) : document.querySelector("form :is([role=alert], .errors, [aria-invalid=true])");
  const owner = owners.find((button) => rejected && part(button).contains(rejected));
  if (owner) set(owner, true);
  (alert ?? rejected?.closest("form").querySelector("[aria-invalid=true]") ?? rejected)?.focus();
})();
