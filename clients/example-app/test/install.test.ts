import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createApp } from "../src/app.js";
import { beginInstall, NotInstalled, readCallback } from "../src/install.js";
import { sessionCookie, storeOfSession } from "../src/session.js";
import { CONFIG, stores } from "./support.js";

const value = (cookie: string) => cookie.slice(cookie.indexOf("=") + 1, cookie.indexOf(";"));

/** An answer of the gateway to an installation that has begun, with these changes. */
function answered(changes: Record<string, string | undefined>) {
  const { cookie } = beginInstall(CONFIG);
  const parameters = { code: "cod_1", state: value(cookie).split(".")[0], iss: CONFIG.gatewayUrl, ...changes };
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return { cookie: value(cookie), answer: new URLSearchParams(given) };
}

const reason = (expected: string) => (error: unknown) => error instanceof NotInstalled && error.reason === expected;

test("an installation has a state and a verifier of its own, which only its browser has", () => {
  const [first, second] = [beginInstall(CONFIG), beginInstall(CONFIG)];
  const [state, verifier] = value(first.cookie).split(".") as [string, string];
  const sent = new URL(first.location).searchParams;
  assert.equal(sent.get("state"), state);
  assert.equal(sent.get("code_challenge"), createHash("sha256").update(verifier).digest("base64url"));
  assert.equal(sent.get("code_challenge_method"), "S256");
  assert.ok(!first.location.includes(verifier) && verifier.length === 43);
  assert.notEqual(value(first.cookie), value(second.cookie));
  for (const attribute of ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"]) assert.ok(first.cookie.includes(attribute));
});

test("an answer to this browser gives the code and its verifier", () => {
  const { cookie, answer } = answered({});
  assert.deepEqual(readCallback(answer, cookie, CONFIG.gatewayUrl), { code: "cod_1", verifier: cookie.split(".")[1] });
});

test("an answer with another state, without one, or in another browser is rejected", () => {
  for (const state of ["other", undefined, ""]) {
    const { cookie, answer } = answered({ state });
    assert.throws(() => readCallback(answer, cookie, CONFIG.gatewayUrl), reason("foreign"));
  }
  const { answer } = answered({});
  for (const cookie of [undefined, "", ".", value(beginInstall(CONFIG).cookie)]) {
    assert.throws(() => readCallback(answer, cookie, CONFIG.gatewayUrl), reason("foreign"));
  }
});

test("an answer of another issuer is rejected, an error too", () => {
  for (const iss of ["https://evil.example", undefined, `${CONFIG.gatewayUrl}/`]) {
    for (const error of [undefined, "access_denied"]) {
      const { cookie, answer } = answered({ iss, error });
      assert.throws(() => readCallback(answer, cookie, CONFIG.gatewayUrl), reason("foreign"));
    }
  }
});

test("a denial is no failure, and an answer without a code is one", () => {
  for (const [error, expected] of [["access_denied", "denied"], ["invalid_scope", "failed"]] as const) {
    const { cookie, answer } = answered({ error, code: undefined });
    assert.throws(() => readCallback(answer, cookie, CONFIG.gatewayUrl), reason(expected));
  }
  const { cookie, answer } = answered({ code: undefined });
  assert.throws(() => readCallback(answer, cookie, CONFIG.gatewayUrl), reason("failed"));
});

test("the callback explains a denial calmly, and ends the installation", async () => {
  const { cookie, answer } = answered({ error: "access_denied", code: undefined });
  const request = new Request(`${CONFIG.appUrl}/auth/callback?${answer}`, { headers: { Cookie: `__Host-install=${cookie}` } });
  const response = await createApp(CONFIG, stores())(request);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /Nothing has changed on your store/);
  assert.match(response.headers.get("Set-Cookie") ?? "", /^__Host-install=; .*Max-Age=0/);
  const other = await createApp(CONFIG, stores())(new Request(`${CONFIG.appUrl}/auth/callback?${answer}`));
  assert.equal(other.status, 400);
});

test("a session is of the store that was signed, until it expires", () => {
  const cookie = value(sessionCookie(CONFIG, "sto_1", 0));
  assert.equal(storeOfSession(CONFIG, cookie, 1_000), "sto_1");
  assert.equal(storeOfSession(CONFIG, cookie, 9 * 3_600_000), undefined);
  for (const forged of [cookie.replace("sto_1", "sto_2"), `${cookie}x`, "sto_1", undefined]) {
    assert.equal(storeOfSession(CONFIG, forged, 1_000), undefined);
  }
});

test("a request of another site changes nothing, though the cookie comes with it", async () => {
  const known = stores({ sto_1: {} });
  const app = createApp(CONFIG, known);
  const headers = { Cookie: sessionCookie(CONFIG, "sto_1").split(";")[0] ?? "", Origin: "https://evil.example" };
  const path = `${CONFIG.appUrl}/api/orders/ord_${"0".repeat(32)}/packed`;
  assert.equal((await app(new Request(path, { method: "POST", headers }))).status, 401);
});

test("a page may be framed by the admin alone", async () => {
  const response = await createApp(CONFIG, stores())(new Request(`${CONFIG.appUrl}/`));
  assert.match(response.headers.get("Content-Security-Policy") ?? "", /frame-ancestors https:\/\/admin\.test$/);
});
