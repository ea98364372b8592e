import type { Config } from "./config.js";

const HEAD = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/style.css">';

/** Only the admin may frame a page of the app, and a page runs nothing but the app's own script. */
function page(config: Config, body: string, status = 200): Response {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${config.adminOrigin}`,
  ];
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  };
  return new Response(`<!doctype html><html lang="en" data-admin="${config.adminOrigin}">${body}</html>`, { status, headers });
}

/** The page of the app; `browser/page.ts` fills it. */
export const mainPage = (config: Config) =>
  page(
    config,
    `<head>${HEAD}<title>Packing list</title><script type="module" src="/page.js"></script></head>
<body><main>
<header><h1>Orders to pack</h1><p id="store" class="faint"></p></header>
<p id="message" role="status" tabindex="-1">Loading …</p>
<p id="install" hidden><a class="button" href="/auth" target="_blank" rel="noopener">Install on a store</a></p>
<ul id="orders"></ul>
<section id="activity" hidden><h2>Last events</h2><ul id="events"></ul></section>
</main></body>`,
  );

/** A page that says one thing, and how to go on. */
export const notice = (config: Config, title: string, text: string, status = 200) =>
  page(
    config,
    `<head>${HEAD}<title>${title}</title></head>
<body><main><h1>${title}</h1><p>${text}</p><p><a class="button" href="/auth">Install on a store</a></p></main></body>`,
    status,
  );
