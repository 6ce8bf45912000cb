import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyKind, NamespacedKind } from "@windlass/runtime";
import { ConfigMap, Deployment, Secret, Service, StatefulSet } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EmbeddedTestEnvironment } from "../../testing/embedded-test-environment.ts";
import {
  BuildbarnBrowser,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
} from "../index.ts";
import { setFrom } from "./buildbarn-set.ts";
import { connectionTo, mountedCertificate, withoutCertificate } from "./operator-certificate.ts";

const wait = { timeout: 50_000 };
const parts = [
  ["storage", BuildbarnStorage, StatefulSet],
  ["scheduler", BuildbarnScheduler, Deployment],
  ["frontend", BuildbarnFrontend, Deployment],
  ["worker", BuildbarnWorker, Deployment],
  ["browser", BuildbarnBrowser, Deployment],
] as const;
const internalTls = { secretName: "pair", configMapName: "authorities" };

let world: EmbeddedTestEnvironment;
beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
}, 120_000);
afterAll(() => world.close());

const workload = async (name: string, kind: AnyKind) =>
  (await world.client.get<AnyKind>(kind, world.key(name))) as Awaited<
    ReturnType<typeof world.get<typeof Deployment>>
  >;
const hashes = async () =>
  Object.fromEntries(
    await Promise.all(
      parts.map(async ([name, , kind]) => [
        name,
        (await workload(name, kind)).spec?.template.metadata?.annotations?.["buildbarn.io/config-hash"],
      ]),
    ),
  ) as Readonly<Record<string, string>>;

test("a set with TLS waits for its authorities, and then mounts its Secret where programs talk to each other", async () => {
  const { client, namespace } = world;
  for (const [name, kind] of parts)
    await world.create(kind, name, { replicas: 1, ...(name === "storage" && { internalTls }) });
  const { status } = await world.condition(BuildbarnStorage, "storage", "ConfigValid", "False");
  expect(status?.conditions?.find(({ type }) => type === "ConfigValid")).toMatchObject({
    reason: "ConfigMapMissing",
    message: expect.stringContaining('there is no ConfigMap "authorities" with ca.crt'),
  });
  await client.create(ConfigMap, {
    metadata: { namespace, name: "authorities" },
    data: { "ca.crt": "first" },
  });
  const waiting = await world.seen(BuildbarnStorage, "storage", (found) =>
    found.status?.conditions?.find(({ type, message }) => type === "Ready" && message.includes("Secret")),
  );
  expect(waiting).toMatchObject({
    status: "False",
    message:
      "0 of 1 pods are ready; pod storage-0 waits for its volumes, such as Secret pair, or its network",
  });
  await client.create(Secret, {
    metadata: { namespace, name: "pair" },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": "certificate", "tls.key": "very-secret" },
  });
  for (const [name, kind] of parts) await world.ready<NamespacedKind>(kind, name);
  for (const [name, , kind] of parts) {
    const { volumes = [], containers } = (await workload(name, kind)).spec?.template.spec ?? {
      containers: [],
    };
    expect(volumes).toContainEqual(
      expect.objectContaining({
        name: "internal-tls",
        secret: expect.objectContaining({ secretName: "pair" }),
      }),
    );
    // What runs actions does not get the key.
    expect(
      containers.map(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === "internal-tls")),
    ).toEqual(containers.map((_, index) => index === 0));
  }
  const maps = (await client.list(ConfigMap, { namespace })).items.map(({ data }) => JSON.stringify(data));
  expect(maps.filter((text) => text.includes("very-secret"))).toEqual([]);
  expect(maps.filter((text) => text.includes("frontend-internal:8979"))).toHaveLength(1);
  const internal = await client.get(Service, world.key("frontend-internal"));
  expect(internal.spec?.ports?.map(({ port }) => port)).toEqual([8979]);
  const { status: frontend } = await world.get(BuildbarnFrontend, "frontend");
  expect(frontend?.endpoint).toBe(`grpc://frontend.${namespace}.svc:8980`);
}, 120_000);

test("other authorities restart all of the set, and another certificate restarts nothing", async () => {
  const { client, namespace } = world;
  const before = await hashes();
  await client.patch(
    Secret,
    { namespace, name: "pair" },
    { type: "merge", patch: { stringData: { "tls.crt": "renewed" } } },
  );
  // The operator looks at everything again, and has nothing to write.
  await world.replica.stop();
  const writes = world.replica.writes.length;
  await world.replica.start();
  await expect.poll(() => world.replica.reconciles, wait).toBeGreaterThanOrEqual(parts.length);
  expect(await hashes()).toEqual(before);
  await client.patch(
    ConfigMap,
    { namespace, name: "authorities" },
    { type: "merge", patch: { data: { "ca.crt": "first and second" } } },
  );
  for (const [name, , kind] of parts)
    await waitFor<AnyKind, true>(
      client,
      kind,
      world.key(name),
      (found) =>
        (found as unknown as { spec: { template: { metadata: { annotations: Record<string, string> } } } })
          .spec.template.metadata.annotations["buildbarn.io/config-hash"] !== before[name] || undefined,
      wait,
    );
  expect(world.replica.writes.slice(writes).filter((write) => write.includes("/secrets"))).toEqual([]);
}, 120_000);

test("a scheduler whose storage is gone stays as it is: only that one has the set's TLS", async () => {
  for (const [name, kind] of parts) await world.ready<NamespacedKind>(kind, name);
  const before = await workload("scheduler", Deployment);
  await world.client.delete(BuildbarnStorage, world.key("storage"));
  await world.condition(BuildbarnScheduler, "scheduler", "ConfigValid", "False");
  expect((await workload("scheduler", Deployment)).spec).toEqual(before.spec);
}, 120_000);

test("the operator shows what is mounted, as it is at the time", async () => {
  const directory = await mkdtemp(join(tmpdir(), "operator-tls-"));
  try {
    expect(await mountedCertificate(directory)).toBeUndefined();
    for (const certificate of ["first", "renewed"]) {
      await writeFile(join(directory, "tls.crt"), certificate);
      await writeFile(join(directory, "tls.key"), "key");
      expect(await mountedCertificate(directory)).toEqual({ certificate, key: "key" });
    }
  } finally {
    await rm(directory, { recursive: true });
  }
  // A set without TLS is shown nothing.
  const set = setFrom("builds", "plain", () => []);
  expect(await connectionTo(set, () => Promise.reject(new Error("was asked")))).toEqual({});
});

test("a refusal names the operator's missing certificate, if that is why", () => {
  const tls = { authorities: "ca", serverName: "builds.team.svc" };
  expect(withoutCertificate("refused", tls)).toBe(
    "refused; the set uses TLS, and the operator has no certificate: make a Secret buildbarn-operator-internal-tls in its namespace, for the DNS name builds.team.svc",
  );
  expect(withoutCertificate("refused", { ...tls, certificate: "own", key: "own" })).toBe("refused");
  expect(withoutCertificate("refused", {})).toBe("refused");
});
