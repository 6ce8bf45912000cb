import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect, type TLSSocket } from "node:tls";
import type { KeyPair } from "@windlass/certificates";
import { systemClock, systemRandom } from "@windlass/clock";
import type { NamespacedKey } from "@windlass/runtime";
import { Pod, Secret, Service } from "@windlass/runtime/kinds";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  readAuthorities,
  writeAuthorities,
} from "../../operators/buildkit/src/certificates/authority-secret.ts";
import {
  type AuthorityRing,
  addAuthority,
  addKey,
  allocationCertificate,
  BuildKitPool,
  clusterSecrets,
  type Keyring,
  keyringDataKey,
  poolNames,
  readKeyring,
  signingAuthority,
  writeKeyring,
} from "../../operators/buildkit/src/index.ts";
import { textData } from "../../operators/buildkit/src/secret-data.ts";
import { build, gatewayServerName, startBuild } from "../../operators/buildkit/testing/gateway-build.ts";
import { type Allocated, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** Authorities of clients and of workers, and token keys, follow one another under a build. */
let operator: LabOperator;
let namespace: string;
let address: { readonly host: string; readonly port: number };
const pool = () => ({ namespace, name: "ci" });

beforeAll(async () => {
  operator = await LabOperator.start(2);
  namespace = await operator.createNamespace();
  // Without a warm worker: each is to be one that trusts what there is when it is needed.
  await operator.createPool(namespace, "ci", { scaling: { max: 3, scaleDownDelay: "1s" } });
  const { spec } = await operator.client.get(Service, pool());
  address = { host: spec?.clusterIP ?? "", port: spec?.ports?.[0]?.port ?? 0 };
}, 600_000);
afterAll(() => operator[Symbol.asyncDispose](), 300_000);

const day = 24 * 3_600_000;
/** The kubelet brings a Secret to its pod within two minutes. */
const brought = { timeout: 240_000, interval: 1_000 };
const report = (what: string, figure: string | number) => process.stdout.write(`  ${what}: ${figure}\n`);

type Data = Readonly<Record<string, string>>;
const clientRing = () => ({ namespace: operator.namespace, name: clusterSecrets.clientAuthorities });
const workerRing = () => ({ namespace, name: poolNames("ci").workerAuthoritiesSecret });
const clusterKeys = () => ({ namespace: operator.namespace, name: clusterSecrets.tokenKeys });
const ownKeys = () => ({ namespace, name: poolNames("ci").tokenKeysSecret });

const dataOf = async (key: NamespacedKey): Promise<Data> => textData(await operator.client.get(Secret, key));
const ringIn = async (key: NamespacedKey): Promise<AuthorityRing> => readAuthorities(await dataOf(key));
const keysIn = (data: Data): Keyring => readKeyring(data[keyringDataKey] ?? "");

async function rewrite(key: NamespacedKey, change: (data: Data) => Data): Promise<void> {
  const changed = Object.entries(change(await dataOf(key)));
  const data = Object.fromEntries(
    changed.map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  await operator.client.patch(Secret, key, { type: "merge", patch: { data } });
}
/** As if each had been added so much earlier, and one after the other. */
const older = <T extends { readonly addedAt: number }>(ring: readonly T[], ageMs: number): readonly T[] =>
  ring.map((one, index) => ({ ...one, addedAt: Date.now() - ageMs * (ring.length - index) }));
const olderAuthorities = (data: Data) => writeAuthorities(older(readAuthorities(data), 8 * day));
const olderKeys = (data: Data) => ({ [keyringDataKey]: writeKeyring(older(keysIn(data), 3_600_000)) });

let looks = 0;
/** Has the pool looked at now, rather than in five minutes. */
const look = () =>
  operator.client.patch(BuildKitPool, pool(), {
    type: "merge",
    patch: { spec: { gateway: { tokenTTL: `${(++looks % 20) + 2}h` } } },
  });

const gatewayPod = async () => {
  const labelSelector = "app.kubernetes.io/name=buildkit-gateway,buildkit.smrt-devops.net/pool=ci";
  const [found] = (await operator.client.list(Pod, { namespace, labelSelector })).items;
  if (!found) throw new Error("there is no gateway");
  return found;
};
/** What the kubelet has brought to the gateway. */
const mounted = async (path: string): Promise<string> => {
  const { metadata } = await gatewayPod();
  const script = `require('fs').readFileSync('/etc/gateway/${path}','utf8')`;
  const command = ["exec", "-n", namespace, metadata.name, "--", "/usr/bin/node", "-p", script];
  return execFileSync("kubectl", command, { encoding: "utf8" });
};

const isSignedBy = (certificate: string | X509Certificate, authority: string) =>
  new X509Certificate(certificate.toString()).verify(new X509Certificate(authority).publicKey);
const keyIdOf = ({ token }: Allocated) => Buffer.from(token, "base64url").readUInt16BE(1);
const pairOf = ({ certificate, key }: Allocated): KeyPair => ({ certificate, key });

async function handshake(pair: KeyPair, ca: string): Promise<TLSSocket> {
  const socket = connect({
    ...address,
    servername: gatewayServerName(pool()),
    ca,
    ALPNProtocols: ["h2"],
    cert: pair.certificate,
    key: pair.key,
  });
  await once(socket, "secureConnect");
  return socket;
}

/** How a call of buildkitd's Info ends, by gRPC's status. */
async function call(pair: KeyPair, ca: string): Promise<number> {
  const socket = await handshake(pair, ca);
  const session = connectHttp2("https://gateway", { createConnection: () => socket });
  session.on("error", () => session.destroy());
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": "/moby.buildkit.v1.Control/Info",
      "content-type": "application/grpc",
      te: "trailers",
    });
    let status: IncomingHttpHeaders["grpc-status"];
    for (const event of ["response", "trailers"])
      stream.on(event, (headers: IncomingHttpHeaders) => {
        status = headers["grpc-status"] ?? status;
      });
    stream.resume();
    stream.end(Buffer.alloc(5));
    await once(stream, "close");
    return Number(status);
  } finally {
    session.destroy();
    socket.destroy();
  }
}

const step = () => `RUN echo ${crypto.randomUUID()}`;

test("authorities and token keys rotate under a build; what was given out before holds until its end", async () => {
  const { client } = operator;
  // An authority's key is gone once it signs no more.
  const oldClients = await ringIn(clientRing());
  // New ones are added, and reach all who verify.
  await rewrite(clientRing(), (data) =>
    writeAuthorities(addAuthority(readAuthorities(data), "BuildKit CA", systemClock)),
  );
  await rewrite(workerRing(), (data) =>
    writeAuthorities(addAuthority(readAuthorities(data), "BuildKit workers", systemClock)),
  );
  await rewrite(clusterKeys(), (data) => ({
    [keyringDataKey]: writeKeyring(addKey(keysIn(data), Date.now(), systemRandom)),
  }));
  const newest = async (key: NamespacedKey) => (await ringIn(key)).at(-1)?.certificate.trim() ?? "";
  const [newClients, newWorkers] = [await newest(clientRing()), await newest(workerRing())];
  await expect
    .poll(async () => {
      await look();
      return [
        (await mounted("tls/ca.crt")).includes(newClients),
        (await mounted("worker-tls/ca.crt")).includes(newWorkers),
        readKeyring(await mounted("token-keys/keys.json")).length,
      ];
    }, brought)
    .toEqual([true, true, 2]);
  await operator.takeTrust();
  expect(operator.ca).toContain(newClients);

  // What the old ones have signed, given out while both are trusted.
  const before = await operator.allocate(pool());
  expect(isSignedBy(before.certificate, newClients)).toBe(false);
  expect(before.ca).toContain(newClients);
  const gateway = await gatewayPod();
  const running = await startBuild(client, before, {
    steps: [`${step()} && /bin/busybox sleep 150`, "RUN echo whole"],
  });

  // The new ones have settled: seven days for authorities, ten minutes for keys.
  const startedAt = performance.now();
  await rewrite(clientRing(), olderAuthorities);
  await rewrite(workerRing(), olderAuthorities);
  await rewrite(clusterKeys(), olderKeys);
  let after: Allocated | undefined;
  await expect
    .poll(
      async () => {
        // The operator goes on for half a minute with what it has read, and the API for less.
        await rewrite(ownKeys(), olderKeys);
        await look();
        if (after) await operator.release(after);
        after = await operator.allocate(pool());
        return {
          byNew: isSignedBy(after.certificate, newClients),
          isNewKey: keyIdOf(after) !== keyIdOf(before),
        };
      },
      { timeout: 180_000, interval: 5_000 },
    )
    .toEqual({ byNew: true, isNewKey: true });
  if (!after) throw new Error("nothing was allocated");
  report("signed by the new ones after", `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  await expect
    .poll(async () => {
      await look();
      const socket = await handshake(pairOf(before), before.ca);
      const shown = socket.getPeerX509Certificate();
      socket.destroy();
      return [
        shown !== undefined && isSignedBy(shown, newClients),
        isSignedBy(await mounted("worker-tls/client.crt"), newWorkers),
      ];
    }, brought)
    .toEqual([true, true]);
  report(
    "gateway certified by the new ones after",
    `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
  );
  expect(running.process.exitCode, running.output().slice(-2_000)).toBeNull();

  // Both are taken, by workers that were made before and after.
  const last = await operator.allocate(pool());
  const workerSecret = { namespace, name: `${last.workerName}-tls` };
  expect(isSignedBy((await dataOf(workerSecret))["tls.crt"] ?? "", newWorkers)).toBe(true);
  for (const [tool, one] of [
    ["buildctl", before],
    ["buildx", before],
    ["buildctl", after],
    ["buildx", last],
  ] as const) {
    const end = await build(client, one, { tool, steps: [step()] });
    expect(end.code, end.output).toBe(0);
  }
  // A certificate of the old authority for a token of the new key, and the other way round.
  const signer = (ring: AuthorityRing) => {
    const authority = signingAuthority(ring, systemClock);
    if (!authority) throw new Error("no authority signs");
    return authority;
  };
  const certified = (authority: ReturnType<typeof signer>, { token, expiresAt }: Allocated) =>
    allocationCertificate(authority, { pool: pool(), issued: { token, expiresAt: Date.parse(expiresAt) } });
  expect(await call(certified(signer(oldClients), last), last.ca)).toBe(0);
  expect(await call(certified(signer(await ringIn(clientRing())), before), before.ca)).toBe(0);
  const foreign = addAuthority([], "BuildKit CA", systemClock);
  await expect(call(certified(signer(foreign), last), last.ca)).resolves.toBe(16);

  const end = await running.ended;
  expect(end.output).toContain("whole");
  expect(end.code, end.output.slice(-2_000)).toBe(0);
  const { metadata, status } = await gatewayPod();
  expect(metadata.uid).toBe(gateway.metadata.uid);
  expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
}, 1_200_000);
