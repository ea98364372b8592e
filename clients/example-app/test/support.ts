import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../src/config.js";
import { type StoreRecord, Stores } from "../src/stores.js";

/** The secret of docs/conventions.md §10. */
export const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

export const CONFIG: Config = {
  gatewayUrl: "https://gateway.test",
  appUrl: "https://app.test",
  port: 4000,
  adminOrigin: "https://admin.test",
  webhookUrl: "https://app.test/webhooks",
  clientId: "cli_1",
  clientSecret: "cls_1",
  appWebhookSecret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  file: join(mkdtempSync(join(tmpdir(), "packing-list-")), "unused.json"),
};

/** Stores of a test, in a directory of their own. */
export function stores(records: Record<string, Partial<StoreRecord>> = {}): Stores {
  const made = new Stores(join(mkdtempSync(join(tmpdir(), "packing-list-")), "stores.json"));
  const [expiresAt, installedAt] = [new Date(Date.now() + 3_600_000).toISOString(), new Date(0).toISOString()];
  const empty = { accessToken: "a", refreshToken: "r", expiresAt, installedAt, events: [] };
  for (const [id, record] of Object.entries(records)) made.save(id, { ...empty, ...record });
  return made;
}
