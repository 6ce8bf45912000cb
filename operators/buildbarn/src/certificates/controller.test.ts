import { once } from "node:events";
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from "node:net";
import { createServer } from "node:tls";
import { type Authority, createAuthority, type KeyPair } from "@windlass/certificates";
import { ConfigMap } from "@windlass/runtime/kinds";
import { waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { EmbeddedTestEnvironment } from "../../testing/embedded-test-environment.ts";
import { BuildbarnFrontend, BuildbarnScheduler, BuildbarnStorage } from "../index.ts";
import { shownBy } from "./shown.ts";

vi.setConfig({ testTimeout: 60_000 });

const hour = 3_600_000;
const authorityOf = (agoMs: number, validFor: number): Authority =>
  createAuthority({ commonName: "builds", validFor, clock: { now: () => Date.now() - agoMs } });
const long = authorityOf(20 * hour, 1_000 * hour);
let serverName = "";
/** A certificate of the set, made so long ago and for so long. */
const pair = (by: Authority, validFor: number): KeyPair =>
  by.issue({ commonName: serverName, dnsNames: [serverName], usages: ["server", "client"], validFor });

/** What the scheduler shows at present; connections are closed at once while there is nothing. */
let shown: KeyPair | undefined;
/** Connections are kept waiting until it is resolved; what is called with each of them. */
let held: { readonly until: Promise<void>; readonly onConnection: (socket: Socket) => void } | undefined;
let scheduler: Server;
let world: EmbeddedTestEnvironment;
const addressOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Does what the scheduler does with a connection. */
function show(socket: Socket): void {
  if (!shown) return void socket.destroy();
  // As bb_scheduler does, it asks for a certificate, and the operator has none.
  const { certificate: cert, key } = shown;
  const secure = createServer({
    cert,
    key,
    ca: long.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });
  secure.on("tlsClientError", () => undefined);
  secure.emit("connection", socket);
}

beforeAll(async () => {
  scheduler = createPlainServer((socket) => {
    socket.on("error", () => undefined);
    held?.onConnection(socket);
    if (held) void held.until.then(() => show(socket));
    else show(socket);
  });
  scheduler.listen(0, "127.0.0.1");
  await once(scheduler, "listening");
  world = await EmbeddedTestEnvironment.start({
    queueAddress: () => addressOf(scheduler),
    entranceAddress: () => addressOf(scheduler),
    certificateLookMs: 100,
  });
  serverName = `builds.${world.namespace}.svc`;
  await world.client.create(ConfigMap, {
    metadata: world.key("authorities"),
    data: { "ca.crt": long.certificate },
  });
  const member = { cluster: "builds" };
  await world.create(BuildbarnStorage, "storage", {
    ...member,
    internalTls: { secretName: "pair", configMapName: "authorities" },
  });
  await world.create(BuildbarnFrontend, "frontend", { ...member, tls: { secretName: "public" } });
}, 60_000);
afterAll(async () => {
  await world.close();
  scheduler.close();
});

const said = (kind: typeof BuildbarnStorage | typeof BuildbarnFrontend, name: string, reason: string) =>
  world.seen(kind as typeof BuildbarnStorage, name, ({ status }) =>
    status?.conditions?.find((one) => one.type === "CertificateValid" && one.reason === reason),
  );
const metric = () =>
  world.replica.metrics.match(/^buildbarn_certificate_expiry_timestamp_seconds\{.*Storage.*\} (\d+)/m)?.[1];

test("what cannot be seen is not known, with the reason", async () => {
  expect(await said(BuildbarnStorage, "storage", "CertificateNotSeen")).toMatchObject({
    status: "Unknown",
    message: "the certificate of the set: there is no scheduler that shows it",
  });
  await world.create(BuildbarnScheduler, "scheduler", { cluster: "builds" });
  await world.seen(BuildbarnStorage, "storage", ({ status }) =>
    status?.conditions?.some(({ message }) => /disconnected before|ECONNRESET/.test(message)),
  );
  expect(metric()).toBeUndefined();
});

test("a certificate that is about to run out is reported before it does, and no longer once it is renewed", async () => {
  shown = pair(long, 1_000 * hour);
  const valid = await said(BuildbarnStorage, "storage", "CertificateValid");
  expect(valid).toMatchObject({ status: "True" });
  // It was made twenty hours ago, and is for twenty-one.
  shown = pair(long, 21 * hour);
  const expiring = await said(BuildbarnStorage, "storage", "CertificateExpiring");
  expect(expiring).toMatchObject({
    status: "False",
    message: expect.stringMatching(/^the certificate of the set runs out at .*, and has not been renewed$/),
  });
  await said(BuildbarnFrontend, "frontend", "CertificateExpiring");
  expect(Number(metric())).toBeGreaterThan(Date.now() / 1_000);
  expect(Number(metric())).toBeLessThan(Date.now() / 1_000 + 2 * 3_600);
  shown = pair(long, 19 * hour);
  await said(BuildbarnStorage, "storage", "CertificateExpired");
  shown = pair(long, 500 * hour);
  await said(BuildbarnStorage, "storage", "CertificateValid");
  await said(BuildbarnFrontend, "frontend", "CertificateValid");
});

test("one that others of the set do not take is reported", async () => {
  shown = pair(authorityOf(hour, 1_000 * hour), 500 * hour);
  const refused = await said(BuildbarnStorage, "storage", "CertificateRefused");
  expect(refused).toMatchObject({ message: expect.stringContaining("others of the set do not take") });
  const name = serverName;
  serverName = "another.set.svc";
  shown = pair(long, 500 * hour);
  serverName = name;
  await world.seen(BuildbarnStorage, "storage", ({ status }) =>
    status?.conditions?.some(({ message }) => message.includes("ERR_TLS_CERT_ALTNAME_INVALID")),
  );
  shown = pair(long, 500 * hour);
  await said(BuildbarnStorage, "storage", "CertificateValid");
});

test("looking writes nothing while nothing changes", async () => {
  const { replica } = world;
  await world.seen(BuildbarnFrontend, "frontend", ({ status }) => status?.state);
  replica.writes = [];
  const before = replica.reconciles;
  await expect.poll(() => replica.reconciles - before, { timeout: 30_000 }).toBeGreaterThan(20);
  expect(replica.writes.filter((write) => write.includes("/status"))).toEqual([]);
});

test("a server that is silent is given up", async () => {
  const silent = createPlainServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const signal = AbortSignal.timeout(200);
  await expect(shownBy({ address: addressOf(silent) }, signal)).rejects.toThrow(/aborted|timeout/i);
  silent.close();
});

test("the metric of a deleted component is removed, also if its certificate is being looked at", async () => {
  const release = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  held = { until: release.promise, onConnection: (socket) => sockets.push(socket) };
  // The storage's and the frontend's.
  await expect.poll(() => sockets.length).toBe(2);
  const areOver = Promise.all(sockets.map((socket) => once(socket, "close")));
  expect(metric()).toBeDefined();
  await world.client.delete(BuildbarnStorage, world.key("storage"));
  await waitForDeletion(world.client, BuildbarnStorage, world.key("storage"));
  held = undefined;
  release.resolve();
  await areOver;
  const { reconciles } = world.replica;
  await expect.poll(() => world.replica.reconciles).toBeGreaterThan(reconciles + 2);
  expect(metric()).toBeUndefined();
});
