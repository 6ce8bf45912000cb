import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "./client.ts";
import { connect, findAccess } from "./connect.ts";
import { openTransport } from "./connection.ts";
import type { RequestOutcome } from "./intercept/observe.ts";
import type { User } from "./kubeconfig/kubeconfig.ts";
import { parseKubeconfig } from "./kubeconfig/parse.ts";
import { kubeconfigFor } from "./kubeconfig/write.ts";
import { sendJson, startServer } from "./test-server.fixture.ts";

const day = 86_400_000;
const authority = createAuthority({ commonName: "ca", validFor: day });
const issue = (by = authority) =>
  by.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], usages: ["server"], validFor: day });
const pair = issue();
const tls = { cert: pair.certificate, key: pair.key };
const caData = (certificate: string) => Buffer.from(certificate).toString("base64");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-connection-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function replace(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

/** A server that accepts the users of `allows`, and answers with the name of the user. */
async function guarded(allows: (request: IncomingMessage) => boolean, options: object = {}) {
  return startServer(
    (request, response) =>
      allows(request)
        ? sendJson(response, 200, { authorization: request.headers.authorization })
        : sendJson(response, 401, { kind: "Status", code: 401, reason: "Unauthorized" }),
    { ...tls, ...options },
  );
}

function clientAs(user: User, url: string, clock = new ManualClock()) {
  const cluster = { server: url, certificateAuthorityData: caData(authority.certificate) };
  const access = { cluster, user, namespace: "default", source: "test" };
  return new Client({ transport: openTransport(access, { clock, env: {} }) });
}

test.each([
  [{ token: "t" }, "Bearer t"],
  [{ username: "me", password: "p" }, `Basic ${Buffer.from("me:p").toString("base64")}`],
  [{}, undefined],
] as [User, string | undefined][])("the user's credentials are sent", async (user, authorization) => {
  await using server = await guarded(() => true);
  await using client = clientAs(user, server.url);
  expect(await client.json({ path: "/" })).toEqual(authorization ? { authorization } : {});
});

test("a rotated token is taken up: in time by itself, and at once when the old one is refused", async () => {
  const path = join(folder, "token");
  let valid = "one";
  const clock = new ManualClock();
  await replace(path, "one\n");
  await using server = await guarded((request) => request.headers.authorization === `Bearer ${valid}`);
  await using client = clientAs({ tokenFile: path }, server.url, clock);
  const ask = () => client.json({ path: "/" });
  expect(await ask()).toEqual({ authorization: "Bearer one" });
  await replace(path, "two\n");
  expect(await ask()).toEqual({ authorization: "Bearer one" });
  await clock.advance(10_000);
  valid = "two";
  expect(await ask()).toEqual({ authorization: "Bearer two" });
  await replace(path, "three\n");
  valid = "three";
  expect(await ask()).toEqual({ authorization: "Bearer three" });
  expect(server.connections).toBe(1);
});

test("a rotated CA is taken up without restart", async () => {
  const path = join(folder, "ca.crt");
  const clock = new ManualClock();
  await replace(path, authority.certificate);
  await using server = await guarded(() => true);
  const access = {
    cluster: { server: server.url, certificateAuthority: path },
    user: {},
    namespace: "default",
    source: "test",
  };
  await using client = new Client({ transport: openTransport(access, { clock, env: {} }) });
  await client.json({ path: "/" });

  const next = createAuthority({ commonName: "next-ca", validFor: day });
  const renewed = issue(next);
  (server.server as Server).setSecureContext({ cert: renewed.certificate, key: renewed.key });
  for (const socket of server.open) socket.destroy();
  await replace(path, next.certificate);
  await clock.advance(10_000);
  expect(await client.json({ path: "/" })).toEqual({});
});

test("an exec plugin's certificate is used for the connection, and replaced when the server refuses it", async () => {
  const pairs = ["first", "second"].map((commonName) =>
    authority.issue({ commonName, usages: ["client"], validFor: day }),
  );
  const [statuses, runs] = [join(folder, "statuses.json"), join(folder, "runs")];
  await writeFile(
    statuses,
    JSON.stringify(
      pairs.map(({ certificate, key }) => ({ clientCertificateData: certificate, clientKeyData: key })),
    ),
  );
  await writeFile(runs, "");
  const script = `const fs = require("node:fs"); fs.appendFileSync("${runs}", "x");
    const status = JSON.parse(fs.readFileSync("${statuses}"))[fs.readFileSync("${runs}").length - 1];
    console.log(JSON.stringify({ kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1", status }))`;
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: ["-e", script],
    env: [],
    provideClusterInfo: false,
    interactiveMode: "Never" as const,
  };
  const seen: string[] = [];
  const allows = (request: IncomingMessage) => {
    const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject;
    seen.push(String(CN));
    return CN === "second";
  };
  await using server = await guarded(allows, { requestCert: true, ca: authority.certificate });
  await using client = clientAs({ exec }, server.url);
  await client.json({ path: "/" });
  await client.json({ path: "/" });
  expect(seen).toEqual(["first", "second", "second"]);
  expect(server.connections).toBe(2);
});

test("credentials are not sent to a server that speaks plain HTTP", async () => {
  await using server = await startServer((request, response) => sendJson(response, 200, request.headers));
  await using client = clientAs({ token: "secret" }, server.url);
  expect(await client.json({ path: "/" })).not.toHaveProperty("authorization");
});

test("a kubeconfig is all it takes, and every request is observed", async () => {
  const outcomes: RequestOutcome[] = [];
  await using server = await guarded(() => true);
  const text = kubeconfigFor({ server: server.url, ca: authority.certificate, token: "t" });
  const options = { env: {}, onOutcome: (it: RequestOutcome) => outcomes.push(it) };
  await using client = Client.fromKubeconfig(await parseKubeconfig(text, "test"), options);
  expect(await client.json({ path: "/version" })).toEqual({ authorization: "Bearer t" });
  const path = join(folder, "config");
  await writeFile(path, text);
  await using connected = await connect({ kubeconfig: path, ...options });
  await connected.json({ path: "/version" });
  const access = await findAccess({ kubeconfig: path });
  await using found = await connect({ access: structuredClone(access), ...options });
  await found.json({ path: "/version" });
  expect(outcomes).toMatchObject([
    { host: `127.0.0.1:${server.port}`, code: "200", method: "GET" },
    { code: "200" },
    { code: "200" },
  ]);
});

test("a proxy that is not supported is refused when connecting, not with the first request", () => {
  const access = {
    cluster: { server: "https://x", proxyUrl: "socks5://proxy:1080" },
    user: {},
    namespace: "default",
    source: "/config",
  };
  expect(() => openTransport(access)).toThrow(
    "kubeconfig /config: proxy-url: proxies of scheme socks5 are not supported",
  );
});
