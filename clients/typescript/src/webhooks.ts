import type { webhooks } from "./generated/schema.js";

type BodyOf<W> = W extends { post: { requestBody: { content: { "application/json": infer B } } } } ? B : never;

/** The event of each type: `WebhookEvents["order.created"]`. */
export type WebhookEvents = { [Type in keyof webhooks]: BodyOf<webhooks[Type]> };
/** Any event. Its `type` tells them apart. */
export type WebhookEvent = WebhookEvents[keyof WebhookEvents];

export interface VerifyOptions {
  /** Seconds that the timestamp may differ from now. */
  tolerance?: number;
  /** The current time in milliseconds. */
  now?: number;
}

/** A delivery that the gateway did not sign with this secret, or that is too old. */
export class WebhookVerificationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WebhookVerificationError";
  }
}

type Headers_ = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a delivery by the rules of Standard Webhooks, and returns its event. The body is the text as it arrived.
 * After a rotation of the secret, a delivery has a signature for each.
 */
export async function verifyWebhook(
  body: string,
  headers: Headers_,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== "string") throw new WebhookVerificationError(`${name} is missing`);
    return value;
  }) as [string, string, string];
  const age = Math.abs((options.now ?? Date.now()) / 1000 - Number(timestamp));
  if (!(age <= (options.tolerance ?? 300))) throw new WebhookVerificationError("webhook-timestamp is not recent");
  const key = await crypto.subtle.importKey(
    "raw",
    decode(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(" ")) {
    const [version, value] = signature.split(",", 2);
    if (version === "v1" && value && (await crypto.subtle.verify("HMAC", key, decode(value), signed))) {
      return JSON.parse(body) as WebhookEvent;
    }
  }
  throw new WebhookVerificationError("no signature is valid");
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    throw new WebhookVerificationError("the secret or a signature is not base64");
  }
}
