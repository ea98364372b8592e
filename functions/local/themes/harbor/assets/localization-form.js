// Another country or language is shown as soon as it is chosen.
class LocalizationForm extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", ({ target }) => target.form.submit());
  }
}

customElements.define("localization-form", LocalizationForm);
