import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from "commerce-gateway";
import type { Config } from "./config.js";
import type { Stores } from "./stores.js";

/**
 * Receives a delivery. What it does before it answers is to verify and to store it: the gateway waits for five seconds,
 * and sends again what was not answered with 2xx. `own` are events about the app itself, signed with its own secret.
 */
export async function receive(request: Request, config: Config, stores: Stores, own = false): Promise<Response> {
  // The header says which secret to try. It is believed only once the signature holds.
  const storeId = request.headers.get("x-service-store-id") ?? "";
  const secret = own ? config.appWebhookSecret : stores.get(storeId)?.webhook?.secret;
  const body = await request.text();
  if (!secret) return new Response(null, { status: 401 });
  let event: WebhookEvent;
  try {
    event = await verifyWebhook(body, request.headers, secret);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(null, { status: 401 });
    throw error;
  }
  if (event.store_id && (own || event.store_id === storeId)) apply(event, event.store_id, stores);
  return new Response(null, { status: 204 });
}

function apply(event: WebhookEvent, storeId: string, stores: Stores): void {
  if (event.type === "app.uninstalled") {
    // A late delivery may be of an installation before this one.
    const installedAt = stores.get(storeId)?.installedAt ?? "";
    if (Date.parse(event.created_at) >= Date.parse(installedAt) - 1000) stores.remove(storeId);
    return;
  }
  // Of the app itself, the gateway sends more than this: every token that it issues, for example.
  if (event.type.startsWith("app.")) return;
  const order = "number" in event.data && typeof event.data.number === "string" ? { order: event.data.number } : {};
  const isNew = stores.remember(storeId, { id: event.id, type: event.type, at: event.created_at, ...order });
  // Work that follows from an event begins here, once for each event and after the answer.
  if (isNew) console.log(`verified: ${event.type}${order.order ? ` of order ${order.order}` : ""}`);
}
