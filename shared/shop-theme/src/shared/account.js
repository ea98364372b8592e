// The element by which themes lead to the account: a link around what they put into it.
(() => {
  if (customElements.get('shopify-account')) return;
  const { href, label } = document.currentScript.dataset;
  const isSignedIn = !href.endsWith('/login');
  const avatar = isSignedIn ? 'signed-in-avatar' : 'signed-out-avatar';
  const style = `
    :host { display: inline-flex; color: inherit; }
    :host([hidden]) { display: none; }
    a { display: flex; align-items: center; justify-content: center; min-width: 44px; min-height: 44px; color: inherit; text-decoration: none; }
    svg { width: 20px; height: 20px; }`;
  const icon = `<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.3" aria-hidden="true">
    <circle cx="10" cy="6.5" r="3.5"/><path d="M3 17.5c0-3.6 3.1-5.5 7-5.5s7 1.9 7 5.5" stroke-linecap="round"/></svg>`;
  const shows = (node) =>
    node.nodeType === Node.TEXT_NODE
      ? node.data.trim() !== ''
      : node instanceof Element && (node.textContent.trim() !== '' || node.matches('svg, img') || node.querySelector('svg, img') !== null);
  const textOf = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const isText = node instanceof Element && !node.matches('svg, style, script, [aria-hidden=true]');
    return isText ? [...node.childNodes].map(textOf).join('') : '';
  };
  customElements.define('shopify-account', class extends HTMLElement {
    #observer = new MutationObserver(() => this.#render());

    constructor() {
      super();
      this.attachShadow({ mode: 'open', delegatesFocus: true }).innerHTML = `<style>${style}</style><a part="link"></a>`;
      this.#link.href = href;
      // A theme's script may click the element itself.
      this.addEventListener('click', (event) => {
        if (event.composedPath()[0] === this) this.#link.click();
      });
    }

    connectedCallback() {
      this.#observer.observe(this, { childList: true, subtree: true, characterData: true });
      this.#render();
    }

    disconnectedCallback() {
      this.#observer.disconnect();
    }

    get #link() {
      return this.shadowRoot.querySelector('a');
    }

    // The avatar of a theme, or whatever else it has here; an icon if that is nothing to be seen.
    #render() {
      const slotOf = (node) => (node instanceof Element ? node.slot : '');
      const nodes = [...this.childNodes].filter(shows);
      const avatars = nodes.filter((node) => slotOf(node) === avatar);
      const plain = nodes.filter((node) => slotOf(node) === '');
      const shown = avatars.length > 0 ? avatars : plain;
      const slot = `<slot${avatars.length > 0 ? ` name="${avatar}"` : ''}></slot>`;
      this.#link.innerHTML = shown.length > 0 ? slot : icon;
      this.#link.setAttribute('aria-label', shown.map(textOf).join(' ').trim().replace(/\s+/g, ' ') || label);
    }
  });
})();
