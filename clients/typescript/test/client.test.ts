import assert from "node:assert/strict";
import { test } from "node:test";
import { CommerceGateway, RateLimitedError, verifyWebhook, WebhookVerificationError } from "../src/index.js";

// The secret of docs/conventions.md §10.
const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/** A client whose requests get these responses, one after the other. */
function scripted(...responses: (() => Response)[]): { client: CommerceGateway; seen: Request[] } {
  const seen: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    seen.push(request);
    const next = responses[seen.length - 1];
    assert.ok(next, "one request too many");
    return next();
  };
  return { client: new CommerceGateway({ baseUrl: "http://gateway.test", fetch, delay: 1, maxDelay: 2_000 }), seen };
}

const problem = (status: number, code: string, headers = {}) => () =>
  Response.json({ type: "about:blank", title: code, status, detail: code, code }, { status, headers });
const ok = (body: unknown) => () => Response.json(body);

test("a write is repeated with its idempotency key, after the time that the response asks for", async () => {
  const { client, seen } = scripted(
    problem(503, "service_unavailable"),
    () => {
      throw new TypeError("connection reset");
    },
    problem(409, "request_in_progress", { "Retry-After": "1" }),
    ok({ data: [] }),
  );
  const began = Date.now();
  await client.post("/v1/auth/signout", {});
  assert.ok(Date.now() - began >= 1_000);
  const keys = new Set(seen.map(({ headers }) => headers.get("Idempotency-Key")));
  assert.deepEqual([seen.length, keys.size, keys.has(null)], [4, 1, false]);
});

test("a rejection is not repeated, nor is a wait that is too long", async () => {
  const long = scripted(problem(429, "rate_limited", { "Retry-After": "60" }));
  await assert.rejects(long.client.get("/v1/stores"), RateLimitedError);
  const { client, seen } = scripted(problem(409, "version_conflict"));
  await assert.rejects(client.post("/v1/auth/signout", {}), { code: "version_conflict", status: 409 });
  assert.equal(seen.length, 1);
});

test("a list is iterated over page by page", async () => {
  const page = (ids: string[], next_cursor: string | null) =>
    ok({ data: ids.map((id) => ({ id })), page: { limit: 2, has_more: next_cursor !== null, next_cursor } });
  const { client, seen } = scripted(page(["a", "b"], "next"), page(["c"], null));
  const ids: string[] = [];
  for await (const { id } of client.list("/v1/stores", { params: { query: { limit: 2 } } })) ids.push(id);
  assert.deepEqual(ids, ["a", "b", "c"]);
  assert.deepEqual(seen.map(({ url }) => new URL(url).search), ["?limit=2", "?limit=2&cursor=next"]);
});

test("a delivery is verified by any of its signatures, and not when it is old", async () => {
  const body = '{"type":"order.created"}';
  const timestamp = 1_750_000_000;
  const key = await crypto.subtle.importKey(
    "raw",
    Buffer.from(SECRET.slice(6), "base64"),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`msg_1.${timestamp}.${body}`));
  const signature = `v1,AAAA v1a,BBBB v1,${Buffer.from(mac).toString("base64")}`;
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": `${timestamp}`, "webhook-signature": signature };
  const at = (seconds: number) => ({ now: (timestamp + seconds) * 1000 });
  const event = await verifyWebhook(body, headers, SECRET, at(300));
  assert.equal(event.type, "order.created");
  await assert.rejects(verifyWebhook(`${body} `, headers, SECRET, at(0)), WebhookVerificationError);
  await assert.rejects(verifyWebhook(body, headers, SECRET, at(301)), WebhookVerificationError);
  await assert.rejects(verifyWebhook(body, { ...headers, "webhook-timestamp": "x" }, SECRET), WebhookVerificationError);
  await assert.rejects(verifyWebhook(body, {}, SECRET, at(0)), /webhook-id is missing/);
});
