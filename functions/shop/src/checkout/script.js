// What makes the checkout more comfortable; every page works without it.
document.documentElement.classList.add("js");
for (const input of document.querySelectorAll("[data-submits]")) {
  input.addEventListener("change", () => {
    const act = document.createElement("input");
    Object.assign(act, { type: "hidden", name: "act", value: `to:${input.dataset.submits}` });
    input.form.append(act);
    // The page comes back where it was left.
    input.form.action = `${input.form.action.split("#")[0]}#${input.dataset.submits}`;
    input.form.submit();
  });
}
const notice = document.querySelector("[role=alert]");
(document.querySelector("[aria-invalid]") ?? notice)?.focus();
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
