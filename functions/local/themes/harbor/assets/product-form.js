// Adds a product without leaving its page; what cannot be added is said at the form.
import { changeCart } from "@theme/cart-api";

class ProductForm extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    // Without a script the variants are a list of their own.
    this.form.elements.id.disabled = false;
    this.form.addEventListener("submit", (event) => this.#add(event));
  }

  async #add(event) {
    event.preventDefault();
    if (this.hasAttribute("aria-busy")) return;
    this.setAttribute("aria-busy", "true");
    this.say("");
    try {
      await changeCart(this.form.getAttribute("action"), new FormData(this.form));
      const drawer = document.querySelector("cart-drawer");
      if (drawer) drawer.open(this.dataset.added);
      else location.assign(this.dataset.cart);
    } catch (error) {
      this.say(error.message);
    } finally {
      this.removeAttribute("aria-busy");
    }
  }

  say(text) {
    this.querySelector("[role=alert]").textContent = text;
  }
}

customElements.define("product-form", ProductForm);
