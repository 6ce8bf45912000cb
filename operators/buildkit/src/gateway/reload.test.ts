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
import { callOn, newRing, Pki, pool, signerOf, TestEnvironment } from "./environment.fixture.ts";

const hour = 3_600_000;

/** The serial number of the certificate that the gateway shows. */
async function shown(environment: TestEnvironment): Promise<string> {
  const socket = await environment.connect(undefined);
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return inspect(certificate?.raw ?? new Uint8Array()).serialNumber;
}

test("a new certificate is shown from the next handshake on, and live connections go on", async () => {
  await using environment = await TestEnvironment.start();
  const { pair } = environment.allocate(await environment.worker());
  const session = await environment.open(pair);
  const before = await shown(environment);
  const next = environment.pki.credentials();
  environment.gateway.use(next);
  expect(await shown(environment)).toBe(inspect(next.clients.pair.certificate).serialNumber);
  expect(await shown(environment)).not.toBe(before);
  expect(await callOn(session)).toMatchObject({ status: 0, worker: "ci-worker-1" });
  expect(inspect((session.socket as TLSSocket).getPeerX509Certificate()?.raw ?? "").serialNumber).toBe(
    before,
  );
});

test("a client authority rotates with an overlap, and what was dropped is trusted no more", async () => {
  await using environment = await TestEnvironment.start();
  const { clients } = environment.pki;
  const both = addAuthority(clients.ring, "clients", systemClock);
  const next = newRing("clients");
  const overlap = [...both.slice(0, 1), ...next.ring];
  const issued = environment.pki.token();
  const worker = await environment.worker();
  environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
  const [old, fresh] = [clients.authority, next.authority].map((authority) =>
    allocationCertificate(authority, { pool, issued }),
  );
  expect([(await environment.call(old)).status, (await environment.call(fresh)).status]).toEqual([0, 16]);
  const { pair } = environment.pki.credentials().clients;
  const trusting = (ring: AuthorityRing) =>
    environment.pki.credentials({ clients: { pair, trust: trustBundle(ring) } });
  environment.gateway.use(trusting(overlap));
  expect([(await environment.call(old)).status, (await environment.call(fresh)).status]).toEqual([0, 0]);
  environment.gateway.use(trusting(next.ring));
  expect([(await environment.call(old)).status, (await environment.call(fresh)).status]).toEqual([16, 0]);
});

test("token keys rotate with an overlap, and a key that was dropped signs no more", async () => {
  await using environment = await TestEnvironment.start();
  const worker = await environment.worker();
  const both = poolKeyring(addKey(environment.pki.clusterKeys, Date.now(), systemRandom), pool);
  const newest = both.slice(1);
  const [old, fresh] = [environment.pki.keys, newest].map((keys) => {
    const issued = environment.pki.token(keys);
    environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
    return environment.certificate(issued);
  });
  environment.gateway.use(environment.pki.credentials({ keys: both }));
  expect([(await environment.call(old)).status, (await environment.call(fresh)).status]).toEqual([0, 0]);
  environment.gateway.use(environment.pki.credentials({ keys: newest }));
  expect([(await environment.call(old)).status, (await environment.call(fresh)).status]).toEqual([16, 0]);
});

test("a new worker authority counts from the next connection to a worker on", async () => {
  await using environment = await TestEnvironment.start();
  const { pair } = environment.allocate(await environment.worker());
  expect(await environment.call(pair)).toMatchObject({ status: 0 });
  const { authority, ring } = newRing("workers");
  const workers = {
    pair: gatewayClientCertificate(authority, { pool, validFor: hour }),
    trust: trustBundle(ring),
  };
  environment.gateway.use(environment.pki.credentials({ workers }));
  // Not even the session that was opened before with this worker counts.
  expect(await environment.call(pair)).toMatchObject({
    status: 9,
    message: expect.stringMatching(/another answers/),
  });
});

test("credentials that cannot be used, or read, leave those before in use", async () => {
  await using environment = await TestEnvironment.start();
  const { pair } = environment.allocate(await environment.worker());
  const before = await shown(environment);
  const { clients, workers } = environment.pki.credentials();
  const other = new Pki().credentials();
  const leaf = clients.pair.certificate;
  const expired = signerOf(environment.pki.clients.ring, { now: () => Date.now() - 2 * hour }).issue({
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
      change instanceof Error ? Promise.reject(change) : Promise.resolve(environment.pki.credentials(change));
    if (!(change instanceof Error))
      expect(() => environment.gateway.use(environment.pki.credentials(change))).toThrow(message);
    await environment.gateway.reload(read);
  }
  expect(await shown(environment)).toBe(before);
  expect(await environment.call(pair)).toMatchObject({ status: 0 });
  const reloads = environment.metric("buildkit_gateway_credential_reloads_total");
  expect(reloads).toEqual([`{pool="ci",namespace="builds",result="error"} ${faults.length}`]);
});

test("the same credentials again are no reload", async () => {
  const pki = new Pki();
  const credentials = pki.credentials();
  await using environment = await TestEnvironment.start({ credentials });
  await environment.gateway.reload(() => Promise.resolve(structuredClone(credentials)));
  expect(environment.metric("buildkit_gateway_credential_reloads_total")).toEqual([]);
  await environment.gateway.reload(() => Promise.resolve(pki.credentials()));
  expect(environment.metric("buildkit_gateway_credential_reloads_total").join()).toContain(
    'result="success"} 1',
  );
});
