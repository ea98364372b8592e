// The cart beside the page. The dialog of the browser keeps the focus in it, closes at Escape, and gives the focus back.
import { refreshCart } from "@theme/cart-api";
import { isPlainClick } from "@theme/sections";

class CartDrawer extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.close());
    this.querySelector(".drawer-close").addEventListener("click", () => this.close());
    document.addEventListener("click", (event) => {
      if (!event.target.closest("[data-opens-cart]") || !isPlainClick(event)) return;
      event.preventDefault();
      this.open();
    });
    addEventListener("pageshow", (event) => event.persisted && refreshCart());
  }

  open(status = "") {
    if (!this.dialog.open) this.dialog.showModal();
    // After the dialog is shown, so that a reader hears it.
    setTimeout(() => { this.querySelector("[role=status]").textContent = status; }, 100);
  }

  close() {
    this.dialog.close();
  }
}

customElements.define("cart-drawer", CartDrawer);
