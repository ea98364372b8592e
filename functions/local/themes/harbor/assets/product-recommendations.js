// Products beside a product, where the page does not have them yet.
import { parse } from "@theme/sections";

class ProductRecommendations extends HTMLElement {
  async connectedCallback() {
    if (this.childElementCount || !this.dataset.url) return;
    const answer = await fetch(this.dataset.url);
    if (!answer.ok) return;
    const found = parse(await answer.text()).querySelector("product-recommendations");
    if (found?.childElementCount) this.innerHTML = found.innerHTML;
  }
}

customElements.define("product-recommendations", ProductRecommendations);
