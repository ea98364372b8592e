import { createApp } from "./app.js";
import { readConfig } from "./config.js";
import { listen, listener } from "./listen.js";
import { Stores } from "./stores.js";

const config = readConfig(process.env);
await listen(config.port, listener(config.appUrl, createApp(config, new Stores(config.file))));
console.log(`Packing list: ${config.appUrl}/`);
