// A journey through a local system by the client that hey-api generates.
import { strict as assert } from "node:assert";
import { client } from "./client.gen";
import { listStorefrontProducts, listStores, markOrderPaid, placeOrder, signIn } from "./sdk.gen";

client.setConfig({ baseUrl: process.env["GATEWAY_URL"] ?? "http://127.0.0.1:3000" });

const { data: signedIn } = await signIn({
  body: { email: "demo@example.com", password: "demo-merchant-1" },
  throwOnError: true,
});
assert("session" in signedIn && signedIn.session);
const authorization = { Authorization: `Bearer ${signedIn.session.access_token}` };
const { data: stores } = await listStores({ headers: authorization, throwOnError: true });
const store = stores.data.find(({ subdomain }) => subdomain === "demo-store");
assert(store);
const { data: products } = await listStorefrontProducts({
  path: { subdomain: store.subdomain },
  query: { limit: 5 },
  throwOnError: true,
});
const variant = products.data.find(({ in_stock }) => in_stock)?.variants?.[0];
assert(variant);
const { data: placed } = await placeOrder({
  path: { subdomain: store.subdomain },
  headers: { "Idempotency-Key": crypto.randomUUID() },
  body: {
    email: "shopper@example.com",
    items: [{ variant_id: variant.id, quantity: 1 }],
    shipping_address: {
      first_name: "Asha", last_name: "Rao", line1: "1 MG Road", city: "Bengaluru", region: "KA",
      postal_code: "560001", country: "IN",
    },
  },
  throwOnError: true,
});
assert("order" in placed);
const { data: paid } = await markOrderPaid({
  path: { id: placed.order.id },
  headers: { ...authorization, "X-Service-Store-Id": store.id },
  body: {},
  throwOnError: true,
});
assert.equal(paid.financial_status, "paid");
