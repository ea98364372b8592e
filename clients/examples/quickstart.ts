import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CommerceGateway, verifyWebhook, type WebhookEvent } from "commerce-gateway";

const baseUrl = process.env["GATEWAY_URL"] ?? "http://127.0.0.1:3000";
const guest = new CommerceGateway({ baseUrl });

const { session } = await guest.post("/v1/auth/signin", { body: { email: "demo@example.com", password: "demo-merchant-1" } });
const merchant = new CommerceGateway({ baseUrl, token: session.access_token });
for await (const store of merchant.list("/v1/stores")) console.log(store.name);

const params = { path: { subdomain: "demo-store" } };
const { data } = await guest.get("/v1/storefront/{subdomain}/products", { params: { ...params, query: { limit: 3 } } });
for (const product of data) console.log(product.title, product.price.amount);
const variant_id = data[0]?.variants?.[0]?.id ?? "";

let secret = "";
let received: (event: WebhookEvent) => void;
const first = new Promise<WebhookEvent>((resolve) => (received = resolve));
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const event = await verifyWebhook(body, request.headers, secret).catch(() => undefined); // it throws when it does not hold
  response.writeHead(event ? 204 : 401).end();
  if (event) received(event);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const subscription = await merchant.post("/v1/operations/webhook-subscriptions", {
  body: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, event_types: ["order.paid"] },
});
secret = subscription.secret;

async function placeOrder(): Promise<void> {
  const placed = await guest.post("/v1/storefront/{subdomain}/orders", {
    params,
    body: {
      email: "guest@example.com",
      items: [{ variant_id, quantity: 1 }],
      shipping_address: {
        first_name: "Gita", last_name: "Rao", line1: "1 MG Road", city: "Bengaluru", region: "KA", postal_code: "560001", country: "IN",
      },
      payment: { provider: "manual" },
    },
  });
  if (!("order" in placed)) throw new Error("this is a quote");
  const paid = await merchant.post("/v1/orders/{id}/mark-paid", { params: { path: { id: placed.order.id } }, body: {} });
  console.log(paid.financial_status);
}

try {
  await placeOrder();
  console.log("verified:", (await first).type);
} finally {
  await merchant.delete("/v1/operations/webhook-subscriptions/{id}", { params: { path: { id: subscription.id } } });
  server.close();
}
