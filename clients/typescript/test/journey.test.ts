// A journey through a local system (`cargo run -p local`), whose address is in GATEWAY_URL.
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { CommerceGateway, NotFoundError, ValidationFailedError, verifyWebhook, type WebhookEvent } from "../src/index.js";

const baseUrl = process.env["GATEWAY_URL"] ?? "http://127.0.0.1:3000";
const subdomain = "demo-store";

/** A receiver of deliveries, and the first of them. */
async function receiver(): Promise<{ url: string; first: Promise<{ body: string; headers: IncomingHttpHeaders }>; close(): void }> {
  let received: (delivery: { body: string; headers: IncomingHttpHeaders }) => void;
  const first = new Promise<{ body: string; headers: IncomingHttpHeaders }>((resolve) => (received = resolve));
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    response.end();
    received({ body, headers: request.headers });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, first, close: () => server.close() };
}

async function merchant(): Promise<CommerceGateway> {
  const guest = new CommerceGateway({ baseUrl });
  const body = { email: "demo@example.com", password: "demo-merchant-1" };
  const { session } = await guest.post("/v1/auth/signin", { body });
  const signedIn = new CommerceGateway({ baseUrl, token: session.access_token });
  for await (const store of signedIn.list("/v1/stores")) {
    if (store.subdomain === subdomain) return new CommerceGateway({ baseUrl, token: session.access_token, storeId: store.id });
  }
  throw new Error("the demo store is not there");
}

test("sign in, list, check out, mark paid, and verify the webhook", { timeout: 60_000 }, async (t) => {
  const client = await merchant();
  const hook = await receiver();
  t.after(hook.close);
  const { secret } = await client.post("/v1/operations/webhook-subscriptions", { body: { url: hook.url, event_types: ["order.paid"] } });

  const shopper = new CommerceGateway({ baseUrl });
  const path = { subdomain };
  let variant: string | undefined;
  for await (const product of shopper.list("/v1/storefront/{subdomain}/products", { params: { path, query: { limit: 5 } } })) {
    variant ??= product.in_stock ? product.variants?.[0]?.id : undefined;
  }
  assert.ok(variant);
  const address = {
    first_name: "Asha",
    last_name: "Rao",
    line1: "1 MG Road",
    city: "Bengaluru",
    region: "KA",
    postal_code: "560001",
    country: "IN",
  } as const;
  const placed = await shopper.post("/v1/storefront/{subdomain}/orders", {
    params: { path },
    body: { email: "shopper@example.com", items: [{ variant_id: variant, quantity: 1 }], shipping_address: address },
  });
  assert.ok("order" in placed);

  const paid = await client.post("/v1/orders/{id}/mark-paid", { params: { path: { id: placed.order.id } }, body: {} });
  assert.equal(paid.financial_status, "paid");

  const { body, headers } = await hook.first;
  const event: WebhookEvent = await verifyWebhook(body, headers, secret);
  assert.ok(event.type === "order.paid");
  // The type tells what the data is.
  assert.equal(event.data.id, paid.id);
});

test("problems are errors of the class of their code", async () => {
  const client = await merchant();
  const missing = client.get("/v1/orders/{id}", { params: { path: { id: `ord_${"0".repeat(32)}` } } });
  await assert.rejects(missing, (error: unknown) => error instanceof NotFoundError && error.requestId !== undefined);
  const invalid = client.post("/v1/products", { body: { title: "" } });
  await assert.rejects(invalid, (error: unknown) => {
    assert.ok(error instanceof ValidationFailedError);
    return error.errors.some(({ pointer }) => pointer === "/title");
  });
});
