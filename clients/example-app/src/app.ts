import { readFile } from "node:fs/promises";
import { type CommerceGateway, ProblemError } from "commerce-gateway";
import type { Config } from "./config.js";
import { readCookie, setCookie } from "./cookies.js";
import { Gateway } from "./gateway.js";
import { beginInstall, INSTALL_COOKIE, NotInstalled, readCallback } from "./install.js";
import { markPacked, ordersToPack } from "./packing.js";
import { mainPage, notice } from "./pages.js";
import { SESSION_COOKIE, sessionCookie, storeOfSession } from "./session.js";
import type { Stores } from "./stores.js";
import { receive } from "./webhooks.js";

/** Somebody who may use the app on a store, and a client that acts for them. */
interface Caller {
  storeId: string;
  gateway: CommerceGateway;
}

/** The app: a function from requests to responses, which `server.ts` puts behind `node:http`. */
export function createApp(config: Config, stores: Stores): (request: Request) => Promise<Response> {
  const gateway = new Gateway(config, stores);

  /** Whose request it is: of the embedded page by its token, of the page alone by its cookie. */
  async function callerOf(request: Request): Promise<Caller | undefined> {
    const token = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    if (token) {
      const storeId = await gateway.storeOf(token);
      return storeId && stores.get(storeId) ? { storeId, gateway: gateway.withToken(token) } : undefined;
    }
    // A cookie comes with requests of other sites, too; they must not change anything.
    if (request.method !== "GET" && request.headers.get("origin") !== config.appUrl) return undefined;
    const storeId = storeOfSession(config, readCookie(config, request, SESSION_COOKIE));
    return storeId && stores.get(storeId) ? { storeId, gateway: gateway.ofStore(storeId) } : undefined;
  }

  function begin(): Response {
    const { location, cookie } = beginInstall(config);
    return new Response(null, { status: 302, headers: { Location: location, "Set-Cookie": cookie, "Cache-Control": "no-store" } });
  }

  async function callback(request: Request): Promise<Response> {
    let response: Response;
    try {
      const answer = new URL(request.url).searchParams;
      const { code, verifier } = readCallback(answer, readCookie(config, request, INSTALL_COOKIE), config.gatewayUrl);
      const storeId = await gateway.install(code, verifier);
      response = new Response(null, { status: 302, headers: { Location: "/", "Set-Cookie": sessionCookie(config, storeId) } });
    } catch (error) {
      response = explain(error);
    }
    response.headers.set("Cache-Control", "no-store");
    // One try for each state.
    response.headers.append("Set-Cookie", setCookie(config, INSTALL_COOKIE, "", 0));
    return response;
  }

  function explain(error: unknown): Response {
    if (error instanceof NotInstalled && error.reason === "denied") {
      return notice(config, "Not installed", "You denied the app its access. Nothing has changed on your store.");
    }
    console.error("installation failed:", error instanceof Error ? error.message : error);
    return error instanceof NotInstalled && error.reason === "foreign"
      ? notice(config, "Please begin again", "This installation was not begun in this browser, or too long ago.", 400)
      : notice(config, "Not installed", "The installation could not be completed. You can begin again.", 502);
  }

  async function api(request: Request, path: string): Promise<Response> {
    const caller = await callerOf(request);
    if (!caller) return Response.json({ error: "not signed in" }, { status: 401 });
    if (request.method === "GET" && path === "/api/orders") {
      const events = stores.get(caller.storeId)?.events.slice(0, 10) ?? [];
      return Response.json({ storeId: caller.storeId, orders: await ordersToPack(caller.gateway), events });
    }
    const id = /^\/api\/orders\/(ord_[0-9a-f]{32})\/packed$/.exec(path)?.[1];
    if (request.method !== "POST" || !id) return Response.json({ error: "not found" }, { status: 404 });
    await markPacked(caller.gateway, id);
    return new Response(null, { status: 204 });
  }

  async function route(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    switch (`${request.method} ${pathname}`) {
      case "GET /":
        return mainPage(config);
      case "GET /auth":
        return begin();
      case "GET /auth/callback":
        return callback(request);
      case "POST /webhooks":
        return receive(request, config, stores);
      case "POST /webhooks/app":
        return receive(request, config, stores, true);
      case "GET /page.js":
      case "GET /admin.js":
        return file(`../browser${pathname}`, "text/javascript");
      case "GET /style.css":
        return file("../../public/style.css", "text/css");
      case "GET /favicon.ico":
        return new Response(null, { status: 204 });
    }
    if (pathname.startsWith("/api/")) return api(request, pathname);
    return notice(config, "Not found", "There is no such page.", 404);
  }

  return async (request) => {
    try {
      return await route(request);
    } catch (error) {
      // What the gateway rejected is said with its own words; anything else is the app's fault.
      if (error instanceof ProblemError) {
        return Response.json({ error: error.problem.detail, code: error.code, requestId: error.requestId }, { status: error.status });
      }
      console.error(error);
      return Response.json({ error: "something went wrong" }, { status: 500 });
    }
  };
}

async function file(path: string, type: string): Promise<Response> {
  const headers = { "Content-Type": `${type}; charset=utf-8`, "X-Content-Type-Options": "nosniff" };
  return new Response(await readFile(new URL(path, import.meta.url)), { headers });
}
