import { createHmac } from "node:crypto";
import type { Config } from "./config.js";
import { setCookie } from "./cookies.js";
import { isEqual } from "./install.js";

/** Who installed the app in this browser may use it outside of the admin. Embedded pages have no use for cookies. */
export const SESSION_COOKIE = "session";
const LIFETIME = 8 * 60 * 60;

const sign = (config: Config, text: string) => createHmac("sha256", config.clientSecret).update(`session:${text}`).digest("base64url");

export function sessionCookie(config: Config, storeId: string, now = Date.now()): string {
  const text = `${storeId}.${Math.floor(now / 1000) + LIFETIME}`;
  return setCookie(config, SESSION_COOKIE, `${text}.${sign(config, text)}`, LIFETIME);
}

/** The store of a session that this app has signed and that has not expired. */
export function storeOfSession(config: Config, cookie: string | undefined, now = Date.now()): string | undefined {
  const [storeId, expires, signature] = (cookie ?? "").split(".");
  if (!storeId || !expires || !signature) return undefined;
  const isValid = isEqual(signature, sign(config, `${storeId}.${expires}`)) && Number(expires) * 1000 > now;
  return isValid ? storeId : undefined;
}
