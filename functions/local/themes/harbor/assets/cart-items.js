// Quantities, removal and the note of the cart, on its page and in its drawer. Without a script they are a form.
import { changeCart } from "@theme/cart-api";
import { isPlainClick } from "@theme/sections";

class CartItems extends HTMLElement {
  #turn = 0;

  connectedCallback() {
    this.addEventListener("change", ({ target }) => {
      if (target.name === "updates[]") this.#set(target.closest("[data-line]"), target.value);
    });
    this.addEventListener("click", (event) => {
      const button = event.target.closest("cart-remove-button");
      if (!button || !isPlainClick(event)) return;
      event.preventDefault();
      this.#set(button.closest("[data-line]"), 0);
    });
    // Enter in a quantity changes it; it does not leave the page.
    this.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.name !== "updates[]") return;
      event.preventDefault();
      event.target.blur();
    });
  }

  async #set(line, quantity) {
    const turn = (this.#turn += 1);
    const number = Number(line.dataset.line);
    this.setAttribute("aria-busy", "true");
    try {
      const cart = await changeCart(this.dataset.url, { id: line.dataset.key, quantity: Number(quantity) });
      if (turn !== this.#turn) return;
      this.#say(this.dataset.updated.replace("[count]", cart.item_count));
      if (Number(quantity) === 0) this.#focusAfter(number);
    } catch (error) {
      if (turn !== this.#turn) return;
      const input = line.querySelector("input");
      input.value = input.defaultValue;
      line.querySelector("[data-line-error]").textContent = error.message;
    } finally {
      if (turn === this.#turn) this.removeAttribute("aria-busy");
    }
  }

  /** The line that took the place of a removed one has the focus, or else what is said of an empty cart. */
  #focusAfter(number) {
    const lines = this.querySelectorAll("[data-line]");
    const line = lines[Math.min(number, lines.length) - 1];
    (line?.querySelector("a[href]") ?? this.querySelector("a[href], button"))?.focus();
  }

  #say(text) {
    (this.closest("dialog") ?? document).querySelector("[data-cart-status]").textContent = text;
  }
}

class CartNote extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", ({ target }) => changeCart(this.dataset.url, { note: target.value }).catch(() => {}));
  }
}

customElements.define("cart-items", CartItems);
customElements.define("cart-note", CartNote);
customElements.define("cart-remove-button", class CartRemoveButton extends HTMLElement {});
