// The page of the app, embedded in the admin or alone.
import type { OrderToPack } from "../src/packing.js";
import type { ReceivedEvent } from "../src/stores.js";
import { bridge, embeddedToken, isEmbedded } from "./admin.js";

interface Overview {
  storeId: string;
  orders: OrderToPack[];
  events: ReceivedEvent[];
}

const byId = (id: string) => document.getElementById(id) as HTMLElement;

/** Calls the app's own server: with the merchant's token, or alone with the app's cookie. */
async function call(path: string, method = "GET"): Promise<Response> {
  const headers: Record<string, string> = isEmbedded ? { Authorization: `Bearer ${await embeddedToken()}` } : {};
  return fetch(path, { method, headers });
}

function element(name: string, text = "", className = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function orderItem(order: OrderToPack): HTMLElement {
  const item = element("li");
  item.dataset["order"] = order.number;
  item.append(element("h2", `Order ${order.number}`));
  const placed = new Date(order.placedAt).toLocaleString();
  item.append(element("p", [placed, order.city].filter(Boolean).join(" · "), "faint"));
  for (const { quantity, title, variant, sku } of order.lines) {
    const line = element("div", "", "pick");
    const name = [title, variant === "Default" ? null : variant, sku].filter(Boolean).join(" · ");
    line.append(element("strong", `${quantity} ×`), element("span", name));
    item.append(line);
  }
  const button = element("button", "Mark as packed") as HTMLButtonElement;
  button.type = "button";
  button.setAttribute("aria-label", `Mark as packed: order ${order.number}`);
  button.addEventListener("click", () => act(button, order));
  item.append(button);
  return item;
}

async function act(button: HTMLButtonElement, order: OrderToPack): Promise<void> {
  button.disabled = true;
  const response = await call(`/api/orders/${order.id}/packed`, "POST");
  if (!response.ok) {
    button.disabled = false;
    const { error } = (await response.json()) as { error: string };
    byId("message").textContent = `Order ${order.number} is not marked: ${error}`;
    return;
  }
  await show();
  const message = byId("message");
  message.textContent = `Order ${order.number} is packed. ${message.textContent}`;
  // The button that had the focus is gone.
  message.focus();
}

async function show(): Promise<string | undefined> {
  const response = await call("/api/orders");
  byId("install").hidden = response.status !== 401;
  if (!response.ok) {
    byId("message").textContent = response.status === 401 ? "The app is not connected to a store here." : "The orders cannot be loaded now.";
    return undefined;
  }
  const { storeId, orders, events } = (await response.json()) as Overview;
  byId("orders").replaceChildren(...orders.map(orderItem));
  byId("message").textContent = orders.length ? `${orders.length} to pack.` : "Nothing to pack.";
  const texts = events.map(({ type, order, at }) => `${new Date(at).toLocaleTimeString()} ${type}${order ? ` ${order}` : ""}`);
  byId("events").replaceChildren(...texts.map((text) => element("li", text)));
  byId("activity").hidden = !events.length;
  return storeId;
}

/** The store's name, which the page asks the gateway for without its own server. */
async function showStore(storeId: string): Promise<void> {
  const { status, body } = await bridge({ path: `/v1/stores/${storeId}` });
  if (status === 200) byId("store").textContent = (body as { name: string }).name;
}

try {
  const storeId = await show();
  if (storeId && isEmbedded) await showStore(storeId);
} catch (error) {
  byId("message").textContent = `The app cannot be shown: ${error instanceof Error ? error.message : error}.`;
}
