// Registers the app with a local system as a developer does, has it approved by the demo's operator, publishes it, and
// writes `.env`. Run again, it takes the app that is there and gives it new secrets.
import { chmodSync, writeFileSync } from "node:fs";
import { CommerceGateway, ConnectionError, InvalidCredentialsError, type Schemas } from "commerce-gateway";
import { SCOPES } from "../src/install.js";

const env = (name: string, otherwise: string) => process.env[name] ?? otherwise;
const gatewayUrl = env("GATEWAY_URL", "http://127.0.0.1:3000");
const port = env("PORT", "4000");
const appUrl = env("APP_URL", `http://localhost:${port}`);
const adminOrigin = env("ADMIN_ORIGIN", "http://127.0.0.1:4100");
const webhookUrl = env("WEBHOOK_URL", `http://127.0.0.1:${port}/webhooks`);
const DEVELOPER = { email: env("DEVELOPER_EMAIL", "developer@example.com"), password: env("DEVELOPER_PASSWORD", "another horse battery") };
const OPERATOR = { email: "operator@example.com", password: "demo-operator-1" };

const guest = new CommerceGateway({ baseUrl: gatewayUrl });
const withToken = (token: string) => new CommerceGateway({ baseUrl: gatewayUrl, token });

async function signIn(who: { email: string; password: string }): Promise<CommerceGateway> {
  const { session } = await guest.post("/v1/auth/signin", { body: who });
  return withToken(session.access_token);
}

/** The developer's account, which is made the first time. */
async function developer(): Promise<CommerceGateway> {
  try {
    return await signIn(DEVELOPER);
  } catch (error) {
    if (!(error instanceof InvalidCredentialsError)) throw error;
  }
  const { session } = await guest.post("/v1/auth/signup", { body: DEVELOPER });
  const client = withToken(session.access_token);
  await client.post("/v1/app-store/developers/register", {
    body: { company: "Acme Apps", contact_email: DEVELOPER.email, country: "IN", agree_terms: true },
  });
  return client;
}

interface Credentials {
  id: string;
  clientId: string;
  clientSecret: string;
  webhookSecret: string;
}

/** The app by this URL: registered, approved and published, or as it is with new secrets. */
async function app(client: CommerceGateway): Promise<Credentials> {
  const redirect = `${appUrl}/auth/callback`;
  for await (const known of client.list("/v1/app-store/developers/apps")) {
    if (known.status === "published" && known.redirect_uris.includes(redirect)) return renewed(client, known);
  }
  const made = await client.post("/v1/app-store/developers/apps", {
    body: {
      name: "Packing list",
      slug: `packing-list-${crypto.randomUUID().slice(0, 8)}`,
      app_url: appUrl,
      redirect_uris: [redirect],
      scopes: SCOPES,
      embedded: true,
      webhook_url: `${webhookUrl}/app`,
    },
  });
  const path = { id: made.id };
  const submission = await client.post("/v1/app-store/developers/apps/{id}/submissions", {
    params: { path },
    body: {
      version: "1.0.0",
      listing: {
        tagline: "What to pack today",
        description: "Lists paid orders with what to pick for each, and notes which ones are packed.",
        category: "operations",
        privacy_policy_url: "https://app.example.com/privacy",
        pricing: "Free",
      },
      changelog: "First version.",
      test_instructions: "Install it, pay an order, and mark it as packed.",
    },
  });
  // On a real platform this is somebody else's decision, which takes its time.
  const operator = await signIn(OPERATOR);
  await operator.post("/v1/app-store/submissions/{sid}/approve", { params: { path: { sid: submission.id } }, body: {} });
  await client.post("/v1/app-store/developers/apps/{id}/publish", { params: { path } });
  const { client_secret, webhook_secret } = made;
  if (!client_secret || !webhook_secret) throw new Error("a new app has both secrets");
  return { id: made.id, clientId: made.client_id, clientSecret: client_secret, webhookSecret: webhook_secret };
}

/** New secrets of an app that exists: the ones before are known to nobody, or to a file that is gone. */
async function renewed(client: CommerceGateway, known: Schemas["App"]): Promise<Credentials> {
  const path = { id: known.id };
  const { client_secret } = await client.post("/v1/app-store/developers/apps/{id}/secret/rotate", { params: { path } });
  // A webhook URL gets its secret when it is set and there was none.
  await client.patch("/v1/app-store/developers/apps/{id}", { params: { path }, body: { webhook_url: null } });
  const { webhook_secret } = await client.patch("/v1/app-store/developers/apps/{id}", {
    params: { path },
    body: { webhook_url: `${webhookUrl}/app` },
  });
  if (!client_secret || !webhook_secret) throw new Error("the app has no new secrets");
  return { id: known.id, clientId: known.client_id, clientSecret: client_secret, webhookSecret: webhook_secret };
}

async function credentials(): Promise<Credentials> {
  try {
    return await app(await developer());
  } catch (error) {
    if (error instanceof ConnectionError) console.error(`Nobody answers at ${gatewayUrl}: start \`cargo run -p local\` first`);
    else console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

const { id, clientId, clientSecret, webhookSecret } = await credentials();
const variables = {
  GATEWAY_URL: gatewayUrl,
  APP_URL: appUrl,
  PORT: port,
  ADMIN_ORIGIN: adminOrigin,
  WEBHOOK_URL: webhookUrl,
  APP_ID: id,
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
  APP_WEBHOOK_SECRET: webhookSecret,
};
const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
writeFileSync(".env", lines.join(""), { mode: 0o600 });
chmodSync(".env", 0o600);
console.log(`${clientId} is published; its secrets are in .env`);
