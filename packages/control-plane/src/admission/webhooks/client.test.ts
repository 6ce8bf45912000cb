import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { gzipSync } from "node:zlib";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Store } from "../../storage/store.ts";
import { type ClientConfig, WebhookClient } from "./client.ts";
import { Services } from "./services.ts";

const day = 24 * 3_600_000;
const authority = createAuthority({ commonName: "hooks", validForMs: day });
const review = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request: {} };

let clock: ManualClock;
let services: Services;
let client: WebhookClient;
const servers: Server[] = [];

beforeEach(() => {
  clock = new ManualClock();
  services = new Services(new Store());
  client = new WebhookClient({ clock, services });
});
afterEach(() => {
  client.close();
  for (const server of servers.splice(0)) server.close();
});

async function serve(
  names: { dnsNames?: string[]; ipAddresses?: string[] },
  zipped = false,
): Promise<number> {
  const { certificate, key } = authority.issue({
    commonName: "hook",
    usages: ["server"],
    validForMs: day,
    ...names,
  });
  const server = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    incoming.resume().once("end", () => {
      const body = Buffer.from(JSON.stringify({ ...review, response: { path: incoming.url } }));
      outgoing.writeHead(200, {
        "content-type": "application/json",
        ...(zipped ? { "content-encoding": "gzip" } : {}),
      });
      outgoing.end(zipped ? gzipSync(body) : body);
    });
  });
  return await listen(server);
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

function post(config: ClientConfig): Promise<unknown> {
  return client.post(config, review, { userAgent: "test", timeoutSeconds: 5 });
}

const authorities = authority.certificate;
const local = { ipAddresses: ["127.0.0.1"] };

test("a webhook is reached by URL when its certificate is from the authority it names", async () => {
  const port = await serve(local);
  const answer = await post({ url: `https://127.0.0.1:${port}/validate`, authorities });
  expect(answer).toMatchObject({ response: { path: "/validate?timeout=5s" } });
});

test("an answer may be zipped", async () => {
  const port = await serve(local, true);
  expect(await post({ url: `https://127.0.0.1:${port}/`, authorities })).toMatchObject({ response: {} });
});

test("a service is reached where it is bound, and must prove to be that service", async () => {
  const reference = { namespace: "ns", name: "svc", port: 443 };
  const config = { service: { ...reference, path: "/x" }, authorities };
  services.bind(reference, `https://127.0.0.1:${await serve({ dnsNames: ["svc.ns.svc"] })}`);
  expect(await post(config)).toMatchObject({ response: { path: "/x?timeout=5s" } });
  services.bind(reference, `https://127.0.0.1:${await serve({ dnsNames: ["other.ns.svc"] })}`);
  client.close();
  await expect(post(config)).rejects.toThrow(
    'Post "https://svc.ns.svc:443/x?timeout=5s": tls: failed to verify certificate: x509: certificate is valid for other.ns.svc, not svc.ns.svc',
  );
});

test("what is wrong with a connection is told as the real server tells it", async () => {
  const port = await serve(local);
  const url = `https://127.0.0.1:${port}/`;
  await expect(post({ url })).rejects.toThrow(
    `Post "${url}?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
  const unnamed = await serve({ dnsNames: ["example.com"] });
  await expect(post({ url: `https://127.0.0.1:${unnamed}/`, authorities })).rejects.toThrow(
    "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  );
  const plain = await listen(createPlainServer((_incoming, outgoing) => outgoing.end("hello")));
  await expect(post({ url: `https://127.0.0.1:${plain}/`, authorities })).rejects.toThrow(
    "http: server gave HTTP response to HTTPS client",
  );
  const [server] = servers;
  await new Promise((resolve) => server?.close(resolve));
  client.close();
  await expect(post({ url, authorities })).rejects.toThrow(
    `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  );
});
