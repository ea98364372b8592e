// Sections of a page that the shop renders alone (Section Rendering API).

export const parse = (html) => new DOMParser().parseFromString(html, "text/html");

/** The section of this id at an address, as it is now. */
export async function fetchSection(url, id, signal) {
  const at = new URL(url, location.href);
  at.searchParams.set("section_id", id);
  const answer = await fetch(at, { signal });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return parse(await answer.text());
}

/** Puts new content into an element. What is open stays open, and the focus stays where it is. */
export function swap(element, fresh) {
  if (element.innerHTML === fresh.innerHTML) return;
  const active = element.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...element.querySelectorAll("details[open][id]")].map((details) => details.id);
  element.innerHTML = fresh.innerHTML;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (active) document.getElementById(active)?.focus();
}

/** Swaps the parts of an element that have the same name in another: `data-part`. */
export function swapParts(element, fresh) {
  for (const part of element.querySelectorAll("[data-part]")) {
    const next = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
    if (next) swap(part, next);
  }
}

/** Whether a click opens the link here, and not in another tab. */
export const isPlainClick = (event) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
