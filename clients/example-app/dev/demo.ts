// `npm run demo`: the app and the page that embeds it, in one process.
await import("../src/server.js");
await import("../host/server.js");
export {};
