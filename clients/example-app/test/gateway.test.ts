import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test, type TestContext } from "node:test";
import { CommerceGateway } from "commerce-gateway";
import { Gateway } from "../src/gateway.js";
import { listener } from "../src/listen.js";
import { markPacked, ordersToPack, PACKED_AT } from "../src/packing.js";
import { CONFIG, stores } from "./support.js";

const EXPIRED = { expiresAt: new Date(0).toISOString(), accessToken: "old", refreshToken: "first" };
const ORDER = `ord_${"0".repeat(32)}`;

/** Answers the requests of a test in the gateway's place. */
function answering(t: TestContext, answer: (request: Request) => Promise<Response>): void {
  t.mock.method(globalThis, "fetch", answer);
}

test("an expired token is refreshed once for all who wait, and its successor is stored", async (t) => {
  const known = stores({ sto_1: EXPIRED });
  let refreshes = 0;
  const seen = new Set<string | null>();
  answering(t, async (request) => {
    if (!request.url.endsWith("/oauth/token")) {
      seen.add(request.headers.get("Authorization"));
      return Response.json({ id: ORDER });
    }
    refreshes += 1;
    assert.equal(((await request.json()) as { refresh_token: string }).refresh_token, "first");
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    return Response.json({ access_token: "new", refresh_token: "second", expires_at, expires_in: 3600, store_id: "sto_1" });
  });
  const client = new Gateway(CONFIG, known).ofStore("sto_1");
  const get = () => client.get("/v1/orders/{id}", { params: { path: { id: ORDER } } });
  await Promise.all([get(), get(), get()]);
  await get();
  assert.deepEqual([refreshes, [...seen]], [1, ["Bearer new"]]);
  assert.equal(known.get("sto_1")?.refreshToken, "second");
});

test("a store that has revoked the app's tokens is forgotten", async (t) => {
  const known = stores({ sto_1: EXPIRED });
  answering(t, async () => Response.json({ error: "invalid_grant" }, { status: 400 }));
  await assert.rejects(new Gateway(CONFIG, known).ofStore("sto_1").get("/v1/stores"), { code: "invalid_grant" });
  assert.equal(known.get("sto_1"), undefined);
});

test("an order is marked on the version that was read, and keeps its metadata", async () => {
  let version = 1;
  const written: unknown[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === "GET") return Response.json({ id: ORDER, version, metadata: { gift: "yes" } });
    // Somebody else was faster, the first time.
    if (request.headers.get("If-Match") === '"1"') {
      version = 2;
      return Response.json({ code: "version_conflict", status: 409, title: "", detail: "", type: "about:blank" }, { status: 409 });
    }
    written.push(request.headers.get("If-Match"), ((await request.json()) as { metadata: Record<string, string> }).metadata);
    return Response.json({});
  };
  await markPacked(new CommerceGateway({ baseUrl: CONFIG.gatewayUrl, fetch }), ORDER);
  const [match, metadata] = written as [string, Record<string, string>];
  assert.deepEqual([match, Object.keys(metadata).sort()], ['"2"', ["gift", PACKED_AT]]);
});

test("paid orders with units to send are listed, the oldest first, unless they are packed or on hold", async () => {
  const item = { remaining: 2, requires_shipping: true, title: "Lamp", variant_title: "Red", sku: null };
  const order = (number: string, changes = {}) => ({
    id: ORDER, number, created_at: `2026-01-0${number}T00:00:00Z`, financial_status: "paid", on_hold: false, metadata: {},
    items: [item, { ...item, remaining: 0 }], shipping_address: null, ...changes,
  });
  const lists: Record<string, unknown[]> = {
    unfulfilled: [
      order("6", { financial_status: "pending" }), order("5"), order("4", { on_hold: true }), order("3", { metadata: { [PACKED_AT]: "x" } }),
      order("2", { items: [{ ...item, requires_shipping: false }] }),
    ],
    partially_fulfilled: [order("1", { financial_status: "partially_refunded" })],
  };
  const fetch = async (request: Request): Promise<Response> => {
    const data = lists[new URL(request.url).searchParams.get("fulfillment_status") ?? ""];
    return Response.json({ data, page: { limit: 50, has_more: false, next_cursor: null } });
  };
  const found = await ordersToPack(new CommerceGateway({ baseUrl: CONFIG.gatewayUrl, fetch }));
  assert.deepEqual(found.map(({ number, lines }) => [number, lines.length, lines[0]?.quantity]), [["1", 1, 2], ["5", 1, 2]]);
});

test("a client that goes away in the middle of a request ends nothing", async (t) => {
  const server = createServer(listener(CONFIG.appUrl, async () => new Response("here")));
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  await new Promise<void>((resolve) => socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf", () => resolve()));
  const closed = new Promise((resolve) => server.once("connection", resolve));
  socket.destroy();
  const response = await fetch(`http://127.0.0.1:${port}/`);
  await closed;
  assert.equal(await response.text(), "here");
  const long = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x".repeat(2 ** 20 + 1) });
  assert.equal(long.status, 413);
});
