import type { TLSSocket } from "node:tls";
import { inspect } from "@windlass/certificates";
import { systemClock, systemRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import {
  type AuthorityRing,
  addAuthority,
  allocationCertificate,
  gatewayClientCertificate,
  trustBundle,
} from "../certificates/index.ts";
import { addKey, poolKeyring } from "../tokens/index.ts";
import type { GatewayCredentials } from "./credentials.ts";
import { callOn, newRing, Pki, pool, signerOf, World } from "./world.fixture.ts";

const hour = 3_600_000;

/** The serial number of the certificate that the gateway shows. */
async function shown(world: World): Promise<string> {
  const socket = await world.connect(undefined);
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return inspect(certificate?.raw ?? new Uint8Array()).serialNumber;
}

test("a new certificate is shown from the next handshake on, and live connections go on", async () => {
  await using world = await World.start();
  const { pair } = world.allocate(await world.worker());
  const session = await world.open(pair);
  const before = await shown(world);
  const next = world.pki.credentials();
  world.gateway.use(next);
  expect(await shown(world)).toBe(inspect(next.clients.pair.certificate).serialNumber);
  expect(await shown(world)).not.toBe(before);
  expect(await callOn(session)).toMatchObject({ status: 0, worker: "ci-worker-1" });
  expect(inspect((session.socket as TLSSocket).getPeerX509Certificate()?.raw ?? "").serialNumber).toBe(
    before,
  );
});

test("a client authority rotates with an overlap, and what was dropped is trusted no more", async () => {
  await using world = await World.start();
  const { clients } = world.pki;
  const both = addAuthority(clients.ring, "clients", systemClock);
  const next = newRing("clients");
  const overlap = [...both.slice(0, 1), ...next.ring];
  const issued = world.pki.token();
  const worker = await world.worker();
  world.table.set(issued.allocation, { at: "ready", worker: worker.address });
  const [old, fresh] = [clients.authority, next.authority].map((authority) =>
    allocationCertificate(authority, { pool, issued }),
  );
  expect([(await world.call(old)).status, (await world.call(fresh)).status]).toEqual([0, 16]);
  const { pair } = world.pki.credentials().clients;
  const trusting = (ring: AuthorityRing) =>
    world.pki.credentials({ clients: { pair, trust: trustBundle(ring) } });
  world.gateway.use(trusting(overlap));
  expect([(await world.call(old)).status, (await world.call(fresh)).status]).toEqual([0, 0]);
  world.gateway.use(trusting(next.ring));
  expect([(await world.call(old)).status, (await world.call(fresh)).status]).toEqual([16, 0]);
});

test("token keys rotate with an overlap, and a key that was dropped signs no more", async () => {
  await using world = await World.start();
  const worker = await world.worker();
  const both = poolKeyring(addKey(world.pki.clusterKeys, Date.now(), systemRandom), pool);
  const newest = both.slice(1);
  const [old, fresh] = [world.pki.keys, newest].map((keys) => {
    const issued = world.pki.token(keys);
    world.table.set(issued.allocation, { at: "ready", worker: worker.address });
    return world.certificate(issued);
  });
  world.gateway.use(world.pki.credentials({ keys: both }));
  expect([(await world.call(old)).status, (await world.call(fresh)).status]).toEqual([0, 0]);
  world.gateway.use(world.pki.credentials({ keys: newest }));
  expect([(await world.call(old)).status, (await world.call(fresh)).status]).toEqual([16, 0]);
});

test("a new worker authority counts from the next connection to a worker on", async () => {
  await using world = await World.start();
  const { pair } = world.allocate(await world.worker());
  expect(await world.call(pair)).toMatchObject({ status: 0 });
  const { authority, ring } = newRing("workers");
  const workers = {
    pair: gatewayClientCertificate(authority, { pool, validFor: hour }),
    trust: trustBundle(ring),
  };
  world.gateway.use(world.pki.credentials({ workers }));
  // Not even the session that was opened before with this worker counts.
  expect(await world.call(pair)).toMatchObject({
    status: 9,
    message: expect.stringMatching(/another answers/),
  });
});

test("credentials that cannot be used, or read, leave those before in use", async () => {
  await using world = await World.start();
  const { pair } = world.allocate(await world.worker());
  const before = await shown(world);
  const { clients, workers } = world.pki.credentials();
  const other = new Pki().credentials();
  const leaf = clients.pair.certificate;
  const expired = signerOf(world.pki.clients.ring, { now: () => Date.now() - 2 * hour }).issue({
    commonName: "ci",
    usages: ["server"],
    validFor: hour,
  });
  const faults: [Partial<GatewayCredentials> | Error, RegExp][] = [
    [new Error("tls.crt: no such file"), /no such file/],
    [{ keys: [] }, /there is no key for tokens/],
    [{ clients: { ...clients, trust: "" } }, /the authorities of clients: there is no certificate/],
    [
      { clients: { ...clients, trust: leaf } },
      /the authorities of clients: one of the certificates is not an/,
    ],
    [
      { clients: { ...clients, pair: { ...clients.pair, key: other.clients.pair.key } } },
      /do not belong together/,
    ],
    [{ clients: { ...clients, pair: expired } }, /the certificate for clients ended at/],
    [{ workers: { ...workers, pair: { ...workers.pair, certificate: "x" } } }, /for workers cannot be read/],
    [
      { workers: { ...workers, pair: { ...workers.pair, key: "x" } } },
      /the key of the certificate for workers/,
    ],
  ];
  for (const [change, message] of faults) {
    const read = () =>
      change instanceof Error ? Promise.reject(change) : Promise.resolve(world.pki.credentials(change));
    if (!(change instanceof Error))
      expect(() => world.gateway.use(world.pki.credentials(change))).toThrow(message);
    await world.gateway.reload(read);
  }
  expect(await shown(world)).toBe(before);
  expect(await world.call(pair)).toMatchObject({ status: 0 });
  const reloads = world.metric("buildkit_gateway_credential_reloads_total");
  expect(reloads).toEqual([`{pool="ci",namespace="builds",result="error"} ${faults.length}`]);
});

test("the same credentials again are no reload", async () => {
  const pki = new Pki();
  const credentials = pki.credentials();
  await using world = await World.start({ credentials });
  await world.gateway.reload(() => Promise.resolve(structuredClone(credentials)));
  expect(world.metric("buildkit_gateway_credential_reloads_total")).toEqual([]);
  await world.gateway.reload(() => Promise.resolve(pki.credentials()));
  expect(world.metric("buildkit_gateway_credential_reloads_total").join()).toContain('result="success"} 1');
});
