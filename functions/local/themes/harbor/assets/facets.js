// Filters, order and pages of a list without a reload. The address follows, and so does the back button.
import { fetchSection, isPlainClick, swapParts } from "@theme/sections";

class FacetFiltersForm extends HTMLElement {
  #loading;

  connectedCallback() {
    this.addEventListener("change", (event) => event.target.form && this.#go(this.#addressOf(event.target.form)));
    this.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#go(this.#addressOf(event.target));
    });
    this.addEventListener("click", (event) => {
      const link = event.target.closest("[data-keeps-page], .pages a");
      if (!link || !isPlainClick(event)) return;
      event.preventDefault();
      this.#go(link.href, link.closest(".pages"));
    });
    addEventListener("popstate", () => this.#show(location.href));
  }

  #addressOf(form) {
    const filled = [...new FormData(form)].filter(([, value]) => value !== "");
    const url = new URL(location.href);
    url.search = new URLSearchParams(filled);
    return url.href;
  }

  #go(url, isPage) {
    history.pushState(null, "", url);
    this.#show(url).then(() => isPage && this.scrollIntoView());
  }

  async #show(url) {
    this.#loading?.abort();
    const loading = (this.#loading = new AbortController());
    this.setAttribute("aria-busy", "true");
    try {
      const page = await fetchSection(url, this.dataset.section, loading.signal);
      swapParts(this, page);
      this.querySelector("[role=status]").textContent = page.querySelector(".count")?.textContent.trim() ?? "";
      this.removeAttribute("aria-busy");
    } catch (error) {
      // The page itself says what is wrong.
      if (error.name !== "AbortError") location.assign(url);
    }
  }
}

customElements.define("facet-filters-form", FacetFiltersForm);
