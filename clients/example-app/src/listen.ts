import { createServer, type IncomingMessage, type RequestListener } from "node:http";

const MOST_BYTES = 1024 * 1024;

/** A `node:http` listener for a function from requests to responses. */
export function listener(origin: string, handle: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    try {
      const body = await read(incoming);
      const response = body ? await handle(toRequest(origin, incoming, body)) : new Response(null, { status: 413 });
      if (!body) outgoing.setHeader("Connection", "close");
      response.headers.forEach((value, name) => outgoing.appendHeader(name, value));
      outgoing.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()));
    } catch (error) {
      // A client that goes away in the middle of its request must not end the process.
      if (!incoming.errored) console.error(error);
      outgoing.destroy();
    }
  };
}

export async function listen(port: number, requests: RequestListener): Promise<void> {
  const server = createServer(requests);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
}

async function read(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if ((bytes += chunk.length) > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toRequest(origin: string, incoming: IncomingMessage, body: Buffer): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const method = incoming.method ?? "GET";
  return new Request(new URL(incoming.url ?? "/", origin), {
    method,
    headers,
    ...(method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) }),
  });
}
