import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Config } from "./config.js";
import { setCookie } from "./cookies.js";

/** What the app asks for. */
export const SCOPES = ["read_store", "write_orders", "write_webhooks"];
/** Holds state and verifier while the merchant is at the gateway. */
export const INSTALL_COOKIE = "install";

const LIFETIME = 15 * 60;
const random = () => randomBytes(32).toString("base64url");

export const redirectUri = (config: Config) => `${config.appUrl}/auth/callback`;

/** Where to send the merchant, and the cookie that binds the answer to this browser. */
export function beginInstall(config: Config): { location: string; cookie: string } {
  const [state, verifier] = [random(), random()];
  const location = new URL("/v1/app-store/oauth/authorize", config.gatewayUrl);
  location.search = new URLSearchParams({
    response_type: "code",
    client_id: config.clientId,
    redirect_uri: redirectUri(config),
    scope: SCOPES.join(" "),
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  return { location: location.href, cookie: setCookie(config, INSTALL_COOKIE, `${state}.${verifier}`, LIFETIME) };
}

/** The end of an installation that gave no code. */
export class NotInstalled extends Error {
  constructor(
    readonly reason: "denied" | "foreign" | "failed",
    message: string,
  ) {
    super(message);
  }
}

/** The code of an answer that belongs to this browser and comes from this gateway, and the verifier to redeem it with. */
export function readCallback(
  answer: URLSearchParams,
  cookie: string | undefined,
  issuer: string,
): { code: string; verifier: string } {
  const [state = "", verifier = ""] = (cookie ?? "").split(".");
  // Without this, somebody else could have their own store connected in this browser (RFC 6749 §10.12).
  if (!state || !verifier || !isEqual(answer.get("state") ?? "", state)) {
    throw new NotInstalled("foreign", "the state is not the one of this browser");
  }
  // Without this, a code of another server could be sent to this one, or the reverse (RFC 9207).
  if (answer.get("iss") !== issuer) throw new NotInstalled("foreign", "the issuer is not the gateway");
  const error = answer.get("error");
  if (error === "access_denied") throw new NotInstalled("denied", "the merchant denied access");
  const code = answer.get("code");
  if (error || !code) throw new NotInstalled("failed", answer.get("error_description") ?? error ?? "there is no code");
  return { code, verifier };
}

/** Compares in constant time. */
export function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
