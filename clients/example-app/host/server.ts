// Plays the admin that embeds the app, signed in as the demo's merchant. It is no part of the app: an admin has a page
// for embedded apps of its own. The merchant's session stays in this process; no page sees it.
import { readFile } from "node:fs/promises";
import { CommerceGateway, ProblemError } from "commerce-gateway";
import { listen, listener } from "../src/listen.js";

const { GATEWAY_URL: baseUrl = "", APP_URL: appUrl = "", APP_ID: appId = "", ADMIN_ORIGIN: origin = "" } = process.env;
const MERCHANT = { email: "demo@example.com", password: "demo-merchant-1" };

let session: Promise<CommerceGateway> | undefined;

/** The demo's merchant and their store. Signed in anew when the session has ended. */
async function merchant<T>(act: (client: CommerceGateway) => Promise<T>): Promise<T> {
  session ??= signIn();
  try {
    return await act(await session);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 401) throw error;
    session = signIn();
    return act(await session);
  }
}

async function signIn(): Promise<CommerceGateway> {
  const guest = new CommerceGateway({ baseUrl });
  const { session } = await guest.post("/v1/auth/signin", { body: MERCHANT });
  const token = session.access_token;
  for await (const { id } of new CommerceGateway({ baseUrl, token }).list("/v1/stores")) {
    return new CommerceGateway({ baseUrl, token, storeId: id });
  }
  throw new Error("the merchant has no store");
}

/** The app's installation on the store. */
async function installation(client: CommerceGateway): Promise<string | undefined> {
  for await (const { id, app_id, status } of client.list("/v1/app-store/installations")) {
    if (app_id === appId && status === "active") return id;
  }
  return undefined;
}

/** A token for the page: what both the app and the merchant may do, for five minutes (RFC 8693). */
const token = () =>
  merchant(async (client) => {
    const { access_token, expires_at } = await client.post("/v1/app-store/oauth/token-exchange", { body: { app_id: appId } });
    return { access_token, expires_at };
  });

/** A call of the page, which the gateway makes as the app. */
const bridge = (request: { method?: "GET"; path: string }) =>
  merchant(async (client) => {
    const installation_id = (await installation(client)) ?? null;
    const { status, body } = await client.post("/v1/app-store/bridge/fetch", { body: { ...request, installation_id } });
    return { status, body };
  });

/** The frame keeps its own origin, so that messages can be told by it, and may neither navigate this page nor open dialogs. */
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox";

async function page(): Promise<Response> {
  const installed = await merchant(installation);
  const content = installed
    ? `<iframe id="app" title="Packing list" sandbox="${SANDBOX}" src="${appUrl}/"></iframe>`
    : `<p>The app is not installed on the demo store.</p><p><a class="button" href="${appUrl}/auth">Install it</a></p>`;
  const policy = `default-src 'none'; frame-ancestors 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src ${appUrl}; base-uri 'none'`;
  const html = `<!doctype html><html lang="en" data-app="${appUrl}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Admin</title><link rel="stylesheet" href="/style.css">
<script type="module" src="/page.js"></script></head><body><main><h1>Admin</h1>${content}</main></body></html>`;
  return new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy } });
}

async function answer(request: Request): Promise<Response> {
  // Only this server's own page may ask for a token or a call.
  if (request.headers.get("origin") !== origin) return new Response(null, { status: 403 });
  const { type, request: wanted } = (await request.json()) as { type: string; request?: { path: string } };
  try {
    if (type === "token") return Response.json(await token());
    if (type === "bridge" && wanted) return Response.json(await bridge(wanted));
  } catch (error) {
    if (error instanceof ProblemError) return Response.json({ error: error.problem.detail }, { status: error.status });
    throw error;
  }
  return Response.json({ error: "unknown message" }, { status: 400 });
}

async function file(path: string, type: string): Promise<Response> {
  return new Response(await readFile(new URL(path, import.meta.url)), { headers: { "Content-Type": type } });
}

async function handle(request: Request): Promise<Response> {
  switch (`${request.method} ${new URL(request.url).pathname}`) {
    case "GET /":
      return page();
    case "POST /messages":
      return answer(request);
    case "GET /page.js":
      return file("page.js", "text/javascript");
    case "GET /style.css":
      return file("../../public/style.css", "text/css");
    case "GET /favicon.ico":
      return new Response(null, { status: 204 });
    default:
      return new Response(null, { status: 404 });
  }
}

await listen(Number(new URL(origin).port), listener(origin, handle));
console.log(`The admin that embeds it: ${origin}/`);
