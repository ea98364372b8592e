// The cart by the shop's Ajax API, and the places of a page that show it.
import { parse, swap } from "@theme/sections";

const shown = () => [...document.querySelectorAll("[data-cart-section]")];

/** Sends a change of the cart. Resolves to the answer, after the page shows the cart as it is now; rejects with a sentence. */
export async function changeCart(path, change) {
  const sections = shown().map((place) => place.dataset.cartSection);
  const more = { sections: [...new Set(sections)].join(","), sections_url: location.pathname };
  const isForm = change instanceof FormData;
  if (isForm) for (const [name, value] of Object.entries(more)) change.append(name, value);
  const answer = await fetch(`${path}.js`, {
    method: "POST",
    headers: { Accept: "application/json", ...(!isForm && { "Content-Type": "application/json" }) },
    body: isForm ? change : JSON.stringify({ ...change, ...more }),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.description || said.message);
  showCart(said.sections ?? {});
  return said;
}

/** Shows the cart of these sections wherever the page shows one. */
export function showCart(sections) {
  for (const place of shown()) {
    const html = sections[place.dataset.cartSection];
    const fresh = html && parse(html).querySelector("[data-cart-section]");
    if (fresh) swap(place, fresh);
  }
}

/** Loads the cart anew: the page is of before it changed. */
export async function refreshCart() {
  const ids = [...new Set(shown().map((place) => place.dataset.cartSection))];
  if (!ids.length) return;
  const answer = await fetch(`${location.pathname}?sections=${ids.join(",")}`);
  if (answer.ok) showCart(await answer.json());
}
