// Suggestions while somebody types, as links below the field. Arrow keys move among them, and Escape leads back.
import { fetchSection } from "@theme/sections";

const PAUSE = 250;

class PredictiveSearch extends HTMLElement {
  #timer;
  #loading;
  #known = new Map();

  connectedCallback() {
    this.input = this.querySelector("input[type=search]");
    this.list = this.querySelector(".suggestions");
    this.input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#suggest(), PAUSE);
    });
    this.input.addEventListener("focus", () => this.list.childElementCount && this.input.value && this.#open());
    this.addEventListener("keydown", (event) => this.#move(event));
    this.addEventListener("focusout", ({ relatedTarget }) => !this.contains(relatedTarget) && this.#close());
    document.addEventListener("pointerdown", ({ target }) => !this.contains(target) && this.#close());
  }

  async #suggest() {
    this.#loading?.abort();
    const terms = this.input.value.trim();
    if (!terms) return this.#close();
    const loading = (this.#loading = new AbortController());
    try {
      this.setAttribute("aria-busy", "true");
      const html = this.#known.get(terms) ?? (await this.#load(terms, loading.signal));
      this.#known.set(terms, html);
      this.list.innerHTML = html;
      this.#open();
      this.querySelector("[role=status]").textContent = this.list.querySelector("[data-count]")?.dataset.count ?? "";
      this.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name === "AbortError") return;
      this.removeAttribute("aria-busy");
      this.#close();
    }
  }

  async #load(terms, signal) {
    const url = new URL(this.dataset.url, location.href);
    url.searchParams.set("q", terms);
    url.searchParams.set("resources[type]", "product,collection,page");
    url.searchParams.set("resources[limit]", "4");
    url.searchParams.set("resources[limit_scope]", "each");
    const page = await fetchSection(url, "predictive-search", signal);
    return page.querySelector(".shopify-section").innerHTML;
  }

  #open() {
    this.list.hidden = false;
  }

  #close() {
    this.list.hidden = true;
  }

  #move(event) {
    if (this.list.hidden) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.input.focus();
      return this.#close();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const stops = [this.input, ...this.list.querySelectorAll("a[href]")];
    const here = stops.indexOf(document.activeElement);
    const next = here + (event.key === "ArrowDown" ? 1 : -1);
    stops[(next + stops.length) % stops.length].focus();
  }
}

customElements.define("predictive-search", PredictiveSearch);
