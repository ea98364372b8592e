// What an embedded page may ask the admin that embeds it. The messages are those of `host/`: an admin has its own.

const admin = document.documentElement.dataset["admin"] ?? "";
const PATIENCE = 10_000;

export const isEmbedded = window.parent !== window;

/** A token for the store that the merchant has open: five minutes, and no longer than their session. */
export interface EmbeddedToken {
  access_token: string;
  expires_at: string;
}

interface Answer {
  id: string;
  result?: unknown;
  error?: string;
}

/** Asks the admin. The question goes to its origin alone, and only an answer from there counts. */
function ask<T>(type: "token" | "bridge", request?: unknown): Promise<T> {
  const id = crypto.randomUUID();
  return new Promise<T>((resolve, reject) => {
    const finish = (act: () => void) => {
      clearTimeout(timer);
      removeEventListener("message", hear);
      act();
    };
    const hear = (event: MessageEvent<Answer>) => {
      if (event.source !== window.parent || event.origin !== admin || event.data?.id !== id) return;
      const { result, error } = event.data;
      finish(() => (error === undefined ? resolve(result as T) : reject(new Error(error))));
    };
    const timer = setTimeout(() => finish(() => reject(new Error("the admin does not answer"))), PATIENCE);
    addEventListener("message", hear);
    window.parent.postMessage({ id, type, request }, admin);
  });
}

let token: EmbeddedToken | undefined;

/** The current token; a new one half a minute before it expires. */
export async function embeddedToken(): Promise<string> {
  if (!token || Date.parse(token.expires_at) - Date.now() < 30_000) token = await ask<EmbeddedToken>("token");
  return token.access_token;
}

/** Calls the gateway through the admin, as the app (`POST /v1/app-store/bridge/fetch`). */
export const bridge = (request: { method?: string; path: string }) => ask<{ status: number; body: unknown }>("bridge", request);
