import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { RequestListener } from "node:http";
import { dirname } from "node:path";

/** The files of a host's key and certificate. */
const filesOf = (appUrl: string) => {
  const { hostname } = new URL(appUrl);
  return { hostname, key: `.data/${hostname}-key.pem`, certificate: `.data/${hostname}.pem` };
};

/** Makes a certificate that this machine alone uses, and that the browser warns of once. */
export function makeCertificate(appUrl: string): void {
  const { hostname, key, certificate } = filesOf(appUrl);
  if (existsSync(certificate)) return;
  mkdirSync(dirname(key), { recursive: true, mode: 0o700 });
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "365", "-subj", `/CN=${hostname}`,
      "-addext", `subjectAltName=DNS:${hostname}`, "-keyout", key, "-out", certificate],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  chmodSync(key, 0o600);
}

/** The app at its https URL on this machine: a published app has no other. */
export async function listenWithTls(appUrl: string, requests: RequestListener): Promise<void> {
  const { key, certificate } = filesOf(appUrl);
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, requests);
  const port = Number(new URL(appUrl).port || 443);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
}
