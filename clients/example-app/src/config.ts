/** What `npm run setup` writes to `.env`. A deployment sets the same variables. */
export interface Config {
  /** The origin of the gateway, which is also the issuer of its tokens. */
  gatewayUrl: string;
  /** The origin at which browsers reach this app. */
  appUrl: string;
  /** Where it listens, on the loopback interface. In a deployment a proxy before it terminates TLS. */
  port: number;
  /** The origin of the admin that embeds the app. */
  adminOrigin: string;
  /** Where the gateway sends webhooks. */
  webhookUrl: string;
  clientId: string;
  clientSecret: string;
  /** Signs the webhooks about the app itself, such as `app.uninstalled`. */
  appWebhookSecret: string;
  /** Keeps what the app stores of each store. A real app has a database. */
  file: string;
}

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const required = (name: string): string => {
    const value = env[name];
    if (!value) throw new Error(`${name} is not set: run \`npm run setup\``);
    return value;
  };
  return {
    gatewayUrl: required("GATEWAY_URL"),
    appUrl: required("APP_URL"),
    port: Number(required("PORT")),
    adminOrigin: required("ADMIN_ORIGIN"),
    webhookUrl: required("WEBHOOK_URL"),
    clientId: required("CLIENT_ID"),
    clientSecret: required("CLIENT_SECRET"),
    appWebhookSecret: required("APP_WEBHOOK_SECRET"),
    file: env["STORES_FILE"] ?? ".data/stores.json",
  };
}
