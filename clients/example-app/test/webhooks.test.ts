import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createApp } from "../src/app.js";
import { Stores } from "../src/stores.js";
import { CONFIG, SECRET, stores } from "./support.js";

const STORE = "sto_1";
const installed = () => stores({ [STORE]: { webhook: { id: "whs_1", secret: SECRET } } });

interface Sent {
  id?: string;
  type?: string;
  storeId?: string;
  secret?: string;
  at?: number;
  path?: string;
  tamper?: (body: string) => string;
}

/** A delivery as the gateway signs it. */
function delivery({ id = "evt_1", type = "order.paid", storeId = STORE, secret = SECRET, at = Date.now(), path = "", tamper }: Sent = {}): Request {
  const event = { id, type, store_id: storeId, created_at: new Date(at).toISOString(), data: { number: "#1001", email: "guest@example.com" } };
  const body = JSON.stringify(event);
  const timestamp = Math.floor(at / 1000);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return new Request(`${CONFIG.appUrl}/webhooks${path}`, {
    method: "POST",
    body: tamper ? tamper(body) : body,
    headers: {
      "webhook-id": id,
      "webhook-timestamp": `${timestamp}`,
      "webhook-signature": `v1,${signature}`,
      "x-service-store-id": storeId,
    },
  });
}

test("a verified delivery is stored before it is answered, without data of the buyer", async () => {
  const known = installed();
  const response = await createApp(CONFIG, known)(delivery());
  assert.equal(response.status, 204);
  const [event] = known.get(STORE)?.events ?? [];
  assert.deepEqual(Object.keys(event ?? {}).sort(), ["at", "id", "order", "type"]);
  assert.equal(event?.order, "#1001");
});

test("a delivery that comes again is answered, and applied once", async () => {
  const known = installed();
  const app = createApp(CONFIG, known);
  for (const id of ["evt_1", "evt_1", "evt_2", "evt_1"]) assert.equal((await app(delivery({ id }))).status, 204);
  assert.deepEqual(known.get(STORE)?.events.map(({ id }) => id), ["evt_2", "evt_1"]);
});

test("a delivery that is tampered with, old, or signed by another secret is rejected", async () => {
  const known = installed();
  const app = createApp(CONFIG, known);
  const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const bad: Sent[] = [
    { tamper: (body) => body.replace("order.paid", "order.void") },
    { tamper: (body) => `${body} ` },
    { at: Date.now() - 301_000 },
    { secret: other },
    { storeId: "sto_2" },
    { secret: CONFIG.appWebhookSecret },
    { path: "/app" },
  ];
  for (const sent of bad) assert.equal((await app(delivery(sent))).status, 401, JSON.stringify(sent));
  assert.equal((await app(new Request(`${CONFIG.appUrl}/webhooks`, { method: "POST", body: "{}" }))).status, 401);
  assert.deepEqual(known.get(STORE)?.events, []);
});

test("the event of another store is not applied, though its signature holds", async () => {
  const known = stores({ [STORE]: { webhook: { id: "whs_1", secret: SECRET } }, sto_2: {} });
  const request = delivery({ storeId: "sto_2" });
  request.headers.set("x-service-store-id", STORE);
  assert.equal((await createApp(CONFIG, known)(request)).status, 204);
  assert.deepEqual([known.get(STORE)?.events, known.get("sto_2")?.events], [[], []]);
});

test("a store that has uninstalled the app is forgotten", async () => {
  const known = installed();
  const app = createApp(CONFIG, known);
  await app(delivery({ type: "app.uninstalled", secret: CONFIG.appWebhookSecret, path: "/app" }));
  assert.equal(known.get(STORE), undefined);
  assert.equal((await app(delivery())).status, 401);
});

test("an uninstallation before this installation is of no concern", async () => {
  const installedAt = new Date().toISOString();
  const known = stores({ [STORE]: { installedAt } });
  await createApp(CONFIG, known)(delivery({ type: "app.uninstalled", at: Date.now() - 60_000, secret: CONFIG.appWebhookSecret, path: "/app" }));
  assert.ok(known.get(STORE));
});

test("what is stored is found again, and only its owner reads it", () => {
  const file = join(mkdtempSync(join(tmpdir(), "packing-list-")), "stores.json");
  new Stores(file).save(STORE, { accessToken: "a", refreshToken: "r", expiresAt: "", installedAt: "", events: [] });
  assert.equal(new Stores(file).get(STORE)?.refreshToken, "r");
  assert.equal(statSync(file).mode & 0o777, 0o600);
});
