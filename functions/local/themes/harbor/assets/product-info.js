// A product whose variant is chosen by its options: the shop renders price, pictures and button of the chosen one.
import { fetchSection, swapParts } from "@theme/sections";

class ProductInfo extends HTMLElement {
  #turn = 0;

  async choose(values) {
    const turn = (this.#turn += 1);
    this.setAttribute("aria-busy", "true");
    try {
      const { url, section } = this.dataset;
      const page = await fetchSection(`${url}?option_values=${values.map(encodeURIComponent).join()}`, section);
      if (turn === this.#turn) this.#show(page.querySelector("product-info"));
    } catch {
      if (turn === this.#turn) this.querySelector("product-form")?.say(this.dataset.error);
    } finally {
      if (turn === this.#turn) this.removeAttribute("aria-busy");
    }
  }

  #show(fresh) {
    swapParts(this, fresh);
    const { variant } = fresh.dataset;
    this.dataset.variant = variant;
    this.querySelector("[name=id]").value = variant;
    this.querySelector("product-form")?.say("");
    const url = new URL(location.href);
    if (variant) url.searchParams.set("variant", variant);
    else url.searchParams.delete("variant");
    history.replaceState(history.state, "", url);
  }
}

class VariantSelects extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", () => {
      const chosen = [...this.querySelectorAll("input:checked")].map((input) => input.dataset.valueId);
      this.closest("product-info").choose(chosen);
    });
  }
}

customElements.define("product-info", ProductInfo);
customElements.define("variant-selects", VariantSelects);
