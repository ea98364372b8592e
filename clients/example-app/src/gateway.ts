import { CommerceGateway, InvalidGrantError } from "commerce-gateway";
import type { Config } from "./config.js";
import { redirectUri } from "./install.js";
import type { Stores } from "./stores.js";

/** Events that the app wants to know of. */
export const EVENT_TYPES = ["order.paid", "order.cancelled", "order.fulfilled"];

/** The app at the gateway: its tokens, and clients that use them. */
export class Gateway {
  private readonly client: CommerceGateway;
  private readonly refreshes = new Map<string, Promise<string>>();

  constructor(
    private readonly config: Config,
    private readonly stores: Stores,
  ) {
    this.client = new CommerceGateway({ baseUrl: config.gatewayUrl });
  }

  /** A client with the token that a merchant's page sent: it may do what both the app and this merchant may. */
  withToken(token: string): CommerceGateway {
    return new CommerceGateway({ baseUrl: this.config.gatewayUrl, token });
  }

  /** A client with the app's own token of a store, for work without a merchant. */
  ofStore(storeId: string): CommerceGateway {
    return new CommerceGateway({ baseUrl: this.config.gatewayUrl, token: () => this.accessToken(storeId) });
  }

  /** Redeems a code, stores the tokens, and subscribes to the store's events. */
  async install(code: string, verifier: string): Promise<string> {
    const { clientId: client_id, clientSecret: client_secret } = this.config;
    const tokens = await this.client.post("/v1/app-store/oauth/token", {
      body: {
        grant_type: "authorization_code",
        code,
        code_verifier: verifier,
        redirect_uri: redirectUri(this.config),
        client_id,
        client_secret,
      },
    });
    const storeId = tokens.store_id;
    this.stores.save(storeId, {
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token,
      expiresAt: tokens.expires_at,
      installedAt: new Date(Date.parse(tokens.expires_at) - tokens.expires_in * 1000).toISOString(),
      events: this.stores.get(storeId)?.events ?? [],
    });
    await this.subscribe(storeId);
    return storeId;
  }

  /** The store of an embedded token that is active and was issued for this app. */
  async storeOf(token: string): Promise<string | undefined> {
    const { clientId: client_id, clientSecret: client_secret } = this.config;
    const body = { token, client_id, client_secret };
    const { active, store_id } = await this.client.post("/v1/app-store/oauth/introspect", { body });
    return active ? (store_id ?? undefined) : undefined;
  }

  /** Makes sure that there is one subscription, whose secret is known. */
  private async subscribe(storeId: string): Promise<void> {
    const gateway = this.ofStore(storeId);
    const known = this.stores.get(storeId)?.webhook;
    const path = "/v1/operations/webhook-subscriptions";
    for await (const { id, url, status } of gateway.list(path)) {
      if (url !== this.config.webhookUrl) continue;
      if (id === known?.id && status === "enabled") return;
      await gateway.delete(`${path}/{id}`, { params: { path: { id } } });
    }
    const { id, secret } = await gateway.post(path, { body: { url: this.config.webhookUrl, event_types: EVENT_TYPES } });
    this.stores.save(storeId, { webhook: { id, secret } });
  }

  /** The app's token of a store, refreshed a minute before it expires. */
  private async accessToken(storeId: string): Promise<string> {
    const record = this.stores.get(storeId);
    if (!record) throw new Error(`the app is not installed on ${storeId}`);
    if (Date.parse(record.expiresAt) - Date.now() > 60_000) return record.accessToken;
    // Once for all who wait: a refresh token is replaced with each use.
    let refresh = this.refreshes.get(storeId);
    if (!refresh) {
      refresh = this.refresh(storeId, record.refreshToken).finally(() => this.refreshes.delete(storeId));
      this.refreshes.set(storeId, refresh);
    }
    return refresh;
  }

  private async refresh(storeId: string, refresh_token: string): Promise<string> {
    const { clientId: client_id, clientSecret: client_secret } = this.config;
    try {
      const tokens = await this.client.post("/v1/app-store/oauth/token", {
        body: { grant_type: "refresh_token", refresh_token, client_id, client_secret },
      });
      this.stores.save(storeId, {
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token,
        expiresAt: tokens.expires_at,
      });
      return tokens.access_token;
    } catch (error) {
      // The merchant has uninstalled the app or revoked its tokens: they install it again.
      if (error instanceof InvalidGrantError) this.stores.remove(storeId);
      throw error;
    }
  }
}
