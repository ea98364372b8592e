import { ConnectionError } from "./problem.js";

/** How failed requests are repeated. */
export interface RetryOptions {
  /** Repetitions at most, after the first attempt. */
  retries: number;
  /** Milliseconds after which an attempt is given up. */
  timeout: number;
  /** Milliseconds before the first repetition. They double with each, up to `maxDelay`, and vary by half. */
  delay: number;
  /** The longest wait in milliseconds. A longer `Retry-After` is not waited for. */
  maxDelay: number;
  fetch: (request: Request) => Promise<Response>;
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);
const TRANSIENT = new Set([429, 502, 503, 504]);

/**
 * Sends a request until it is answered. Only requests without effect or with an idempotency key are repeated, so that
 * nothing takes effect twice.
 */
export async function send(request: Request, options: RetryOptions): Promise<Response> {
  const isRepeatable = SAFE.has(request.method) || request.headers.has("Idempotency-Key");
  for (let attempt = 0; ; attempt += 1) {
    const isLast = !isRepeatable || attempt >= options.retries;
    let wait = Math.min(options.delay * 2 ** attempt, options.maxDelay) * (0.5 + Math.random() / 2);
    try {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(options.timeout)]);
      const response = await options.fetch(new Request(request.clone(), { signal }));
      if (isLast || !(await isTransient(response))) return response;
      const asked = retryAfter(response);
      if (asked !== undefined && asked > options.maxDelay) return response;
      wait = asked ?? wait;
      await response.body?.cancel();
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      if (isLast) throw new ConnectionError(request, cause);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** Whether a later attempt may be answered otherwise. */
async function isTransient(response: Response): Promise<boolean> {
  if (response.status !== 409) return TRANSIENT.has(response.status);
  // The first request with this key is still running.
  const problem = (await response.clone().json().catch(() => undefined)) as { code?: string } | undefined;
  return problem?.code === "request_in_progress";
}

/** The milliseconds that `Retry-After` asks for: seconds, or a date (RFC 9110 §10.2.3). */
function retryAfter(response: Response): number | undefined {
  const text = response.headers.get("Retry-After");
  if (text === null) return undefined;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(milliseconds, 0);
}
