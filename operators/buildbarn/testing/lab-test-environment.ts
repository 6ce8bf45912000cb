import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { AnyKind, NamespacedKey } from "@windlass/runtime";
import { CustomResourceDefinition, Node, PersistentVolumeClaim, Pod, Service } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { BuildbarnCluster, BuildbarnWorker, kinds, ports } from "../src/index.ts";
import { internalName, type OperatorCertificate } from "../src/set/index.ts";
import { Replica } from "./replica.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/** The program that makes images and runs the cluster they are for. */
export const lab = process.env.WINDLASS_LAB ?? join(root, "..", "shared", "lab", "lab");

/** The cluster of KUBECONFIG with real Buildbarn, and the operator in this process. */
export interface LabTestEnvironment {
  readonly cluster: TestCluster;
  readonly namespace: string;
  readonly replica: Replica;
  close(): Promise<void>;
}

/**
 * Starts the operator for a namespace of its own.
 *
 * @param certificate What the operator shows to sets that use TLS among themselves. @default
 *   nothing
 */
export async function labTestEnvironment(
  name: string,
  certificate?: OperatorCertificate,
): Promise<LabTestEnvironment> {
  const cluster = await startCluster({ flavour: "cluster" });
  await loadImages(cluster);
  await installForGood(cluster);
  const namespace = await cluster.createNamespace(name);
  // Names of Services resolve in pods alone, and the operator is not in one.
  const clusterIpOf = async (service: NamespacedKey) =>
    (await cluster.client.get(Service, service)).spec?.clusterIP;
  const replica = new Replica(
    cluster,
    [namespace],
    {},
    {
      queueAddress: async ({ metadata }) => `${await clusterIpOf(metadata)}:${ports.schedulerState}`,
      frontendAddress: async (frontend) =>
        certificate
          ? `${await clusterIpOf({ ...frontend.metadata, name: internalName(frontend.metadata.name) })}:${ports.frontendInternal}`
          : `${await clusterIpOf(frontend.metadata)}:${ports.frontend}`,
      ...(certificate && { certificate }),
    },
  );
  await replica.start();
  return {
    cluster,
    namespace,
    replica,
    close: async () => {
      const { client } = cluster;
      // A worker that has lost its scheduler takes a minute and more to stop: workers go first. A
      // set sees to it itself.
      for (const kind of [BuildbarnCluster, BuildbarnWorker, ...kinds]) {
        const { items } = await client.list<AnyKind>(kind, { namespace });
        for (const { metadata } of items) await client.delete<AnyKind>(kind, metadata);
        for (const { metadata } of items)
          await waitForDeletion<AnyKind>(client, kind, metadata, { timeout: 120_000 });
      }
      await cluster.close();
      await replica.stop();
    },
  };
}

/** Installs the kinds and leaves them: another suite may use them at the same time. */
async function installForGood({ client }: TestCluster): Promise<void> {
  for (const kind of kinds) {
    const crd = kind.crd();
    await client.apply(CustomResourceDefinition, crd, { force: true });
    await waitForCondition(client, CustomResourceDefinition, crd.metadata, "Established");
  }
}

/** Loads the programs, unless the node has them: that takes half a minute. */
export async function loadImages({ client }: TestCluster): Promise<void> {
  const { items } = await client.list(Node);
  const names = items.flatMap(({ status }) => status?.images ?? []).flatMap((image) => image.names ?? []);
  if (names.some((name) => name.includes("/build-actions:"))) return;
  execFileSync(join(lab, "..", "images"), ["buildbarn"], { stdio: "ignore" });
}

/** Takes a shard its pod and its volumes, and returns once it runs on empty ones. */
export async function loseVolumes(
  { cluster: { client }, namespace }: Pick<LabTestEnvironment, "cluster" | "namespace">,
  pod: string,
): Promise<void> {
  const key = { namespace, name: pod };
  const before = (await client.get(Pod, key)).metadata.uid;
  // They go with the pod that uses them.
  for (const store of ["cas", "ac"])
    await client.delete(PersistentVolumeClaim, { namespace, name: `${store}-${pod}` });
  await client.delete(Pod, key);
  await waitFor(
    client,
    Pod,
    key,
    ({ metadata, status }) =>
      metadata.uid !== before &&
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    { timeout: 120_000 },
  );
}

/** Images and sizes that fit the lab. */
export function labSpecs(version: "2025-02" | "2026-08") {
  const year = version.slice(0, 4);
  const small = { resources: { requests: { cpu: "10m", memory: "32Mi" } }, minReadySeconds: 1 };
  const volume = { volume: { size: "64Mi" } };
  return {
    storage: {
      ...small,
      version,
      image: `ghcr.io/buildbarn/bb-storage:${year}`,
      volumeInitImage: "busybox:1.35",
      // The lab's volumes are host paths, which only root may write.
      securityContext: { runAsUser: 0, seccompProfile: { type: "RuntimeDefault" } },
      cas: { ...volume, blocks: { size: "32Mi" }, index: { size: "1Mi" } },
      ac: { ...volume, blocks: { size: "16Mi" }, index: { size: "1Mi" } },
    },
    frontend: {
      ...small,
      version,
      image: `ghcr.io/buildbarn/bb-storage:${year}`,
      serviceType: "ClusterIP",
      replicas: 2,
    },
    // The lab has no other: it reads through the frontend, so it need not be of the shards'
    // release.
    scheduler: { ...small, version: "2025-02", image: "ghcr.io/buildbarn/bb-scheduler:2025" },
  } as const;
}

/** A spec for a component of a BuildbarnCluster, which has one release for all. */
export function withoutVersion<S extends { readonly version: string }>(spec: S): Omit<S, "version"> {
  const others = Object.entries(spec).filter(([name]) => name !== "version");
  // All fields but one are still there.
  return Object.fromEntries(others) as Omit<S, "version">;
}
