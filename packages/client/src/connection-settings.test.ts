import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { expect, onTestFinished, test } from "vitest";
import { Client } from "./client.ts";
import { openTransport } from "./connection.ts";
import type { Cluster, User } from "./kubeconfig/kubeconfig.ts";
import { sendJson, startServer, type TestServer } from "./test-server.fixture.ts";

const day = 86_400_000;
const authority = createAuthority({ commonName: "ca", validFor: day });
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A server under a name that is not its address, which answers with what it saw of a request. */
async function mirror(): Promise<TestServer> {
  const { certificate, key } = authority.issue({
    commonName: "server",
    dnsNames: ["api.example.com"],
    usages: ["server"],
    validFor: day,
  });
  const server = await startServer(
    (request, response) => sendJson(response, 200, { headers: request.headers, commonName: nameOf(request) }),
    { cert: certificate, key, requestCert: true, ca: authority.certificate, rejectUnauthorized: false },
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function nameOf(request: IncomingMessage): string | undefined {
  const { subject } = (request.socket as TLSSocket).getPeerCertificate();
  return subject?.CN === undefined ? undefined : String(subject.CN);
}

interface Seen {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly commonName?: string;
}

async function ask(server: TestServer, cluster: Partial<Cluster>, user: User = {}): Promise<Seen> {
  const access = {
    cluster: {
      server: server.url,
      certificateAuthorityData: base64(authority.certificate),
      tlsServerName: "api.example.com",
      ...cluster,
    },
    user,
    namespace: "default",
    source: "test",
  };
  await using client = new Client({ transport: openTransport(access, { env: {} }) });
  return (await client.json({ path: "/" })) as Seen;
}

test("tls-server-name is the name that the server's certificate must be for", async () => {
  const server = await mirror();
  expect((await ask(server, {})).headers.host).toBeDefined();
  await expect(ask(server, { tlsServerName: "other.example.com" })).rejects.toThrow(/certificate/);
});

test("insecure-skip-tls-verify takes any certificate, and nothing else does", async () => {
  const server = await mirror();
  const stranger = createAuthority({ commonName: "stranger", validFor: day });
  const untrusted = { certificateAuthorityData: base64(stranger.certificate) };
  await expect(ask(server, untrusted)).rejects.toThrow(/certificate/);
  expect((await ask(server, { ...untrusted, insecureSkipTlsVerify: true })).headers.host).toBeDefined();
});

test("a client certificate is shown, from the kubeconfig itself or from files", async () => {
  const server = await mirror();
  const { certificate, key } = authority.issue({ commonName: "ada", usages: ["client"], validFor: day });
  const inline = { clientCertificateData: base64(certificate), clientKeyData: base64(key) };
  expect((await ask(server, {}, inline)).commonName).toBe("ada");
  const folder = await mkdtemp(join(tmpdir(), "windlass-settings-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = { clientCertificate: join(folder, "tls.crt"), clientKey: join(folder, "tls.key") };
  await Promise.all([writeFile(files.clientCertificate, certificate), writeFile(files.clientKey, key)]);
  expect((await ask(server, {}, files)).commonName).toBe("ada");
  expect((await ask(server, {})).commonName).toBeUndefined();
});

test("the user's impersonation goes with every request", async () => {
  const { headers } = await ask(
    await mirror(),
    {},
    {
      token: "t",
      impersonate: { user: "grace", groups: ["navy"] },
    },
  );
  expect(headers).toMatchObject({
    authorization: "Bearer t",
    "impersonate-user": "grace",
    "impersonate-group": "navy",
  });
});

test("answers are asked for compressed, unless disable-compression is set", async () => {
  const server = await mirror();
  expect((await ask(server, {})).headers["accept-encoding"]).toBe("gzip");
  expect((await ask(server, { disableCompression: true })).headers["accept-encoding"]).not.toBe("gzip");
});
