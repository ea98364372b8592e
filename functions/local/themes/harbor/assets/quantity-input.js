// Steps of a quantity: less and more.
class QuantityInput extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", (event) => {
      const button = event.target.closest("button[name]");
      if (!button) return;
      const input = this.querySelector("input");
      const before = input.value;
      if (button.name === "plus") input.stepUp();
      else input.stepDown();
      if (input.value !== before) input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
}

customElements.define("quantity-input", QuantityInput);
