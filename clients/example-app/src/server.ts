import { listenWithTls } from "../dev/tls.js";
import { createApp } from "./app.js";
import { readConfig } from "./config.js";
import { listen, listener } from "./listen.js";
import { Stores } from "./stores.js";

const config = readConfig(process.env);
const requests = listener(config.appUrl, createApp(config, new Stores(config.file)));
await listen(config.port, requests);
// In a deployment, a proxy does this.
if (new URL(config.appUrl).hostname.endsWith(".localhost")) await listenWithTls(config.appUrl, requests);
console.log(`Packing list: ${config.appUrl}/`);
