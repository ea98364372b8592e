import type { Config } from "./config.js";

// `__Host-` keeps other hosts from setting a cookie, and is for https alone (RFC 6265bis §4.1.3).
const isSecure = (config: Config) => config.appUrl.startsWith("https:");
const nameOf = (config: Config, name: string) => (isSecure(config) ? `__Host-${name}` : name);

/** The `Set-Cookie` of a cookie of this app alone, for so many seconds; 0 ends it. */
export function setCookie(config: Config, name: string, value: string, seconds: number): string {
  const secure = isSecure(config) ? "Secure; " : "";
  return `${nameOf(config, name)}=${value}; Path=/; Max-Age=${seconds}; ${secure}HttpOnly; SameSite=Lax`;
}

export function readCookie(config: Config, request: Request, name: string): string | undefined {
  const begin = `${nameOf(config, name)}=`;
  const pairs = (request.headers.get("cookie") ?? "").split("; ");
  return pairs.find((pair) => pair.startsWith(begin))?.slice(begin.length);
}
