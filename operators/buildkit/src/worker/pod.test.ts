import { Namespace, Pod } from "@windlass/runtime/kinds";
import { startCluster } from "@windlass/testing";
import { describe, expect, test } from "vitest";
import { BuildKitPool } from "../pool/pool.ts";
import { configHashOf, podFor } from "./pod.ts";

type PoolSpec = Parameters<typeof BuildKitPool.make>[1];
const podOf = (spec: PoolSpec, slot = 0) =>
  podFor(BuildKitPool.make({ namespace: "builds", name: "ci" }, spec), { name: `ci-worker-${slot}`, slot })
    .object;
const daemonOf = (spec: PoolSpec) => {
  const found = podOf(spec).spec?.containers.find(({ name }) => name === "buildkitd");
  if (!found) throw new Error("there is no daemon");
  return found;
};

describe("profiles", () => {
  test("rootless runs as a user, without a process sandbox of its own", () => {
    const daemon = daemonOf({ profile: "rootless" });
    expect(daemon.image).toMatch(/-rootless$/);
    expect(daemon.args).toContain("--oci-worker-no-process-sandbox");
    expect(daemon.securityContext).toMatchObject({
      runAsUser: 1_000,
      runAsGroup: 1_000,
      seccompProfile: { type: "Unconfined" },
      appArmorProfile: { type: "Unconfined" },
    });
    expect(daemon.securityContext?.privileged).toBeUndefined();
    expect(daemon.volumeMounts).toContainEqual({
      name: "state",
      mountPath: "/home/user/.local/share/buildkit",
    });
  });

  test("a cache volume is given to the user that rootless runs as, whatever kind it is", () => {
    const cache = { persistent: { size: "1Gi", maxVolumes: 2 } };
    const first = (spec: PoolSpec, slot?: number) => podOf(spec, slot).spec?.initContainers?.[0];
    expect(first({ profile: "rootless", cache })).toMatchObject({
      command: ["chown", "1000:1000", "/home/user/.local/share/buildkit"],
      securityContext: { runAsUser: 0, capabilities: { drop: ["ALL"], add: ["CHOWN"] } },
      volumeMounts: [{ name: "state" }],
    });
    expect(first({ profile: "rootless", cache }, 2)).toBeUndefined();
    expect(first({ profile: "rootless" })).toBeUndefined();
    expect(first({ profile: "privileged", cache })).toBeUndefined();
  });

  test("privileged and userns run as root, which refuses to give up the process sandbox", () => {
    for (const profile of ["privileged", "userns"] as const) {
      const daemon = daemonOf({ profile });
      expect(daemon.args).not.toContain("--oci-worker-no-process-sandbox");
      expect(daemon.securityContext).toEqual({ privileged: true });
      expect(podOf({ profile }).spec?.hostUsers).toBe(profile === "userns" ? false : undefined);
    }
  });

  test("an API server takes the pods, and Pod Security takes them in a privileged namespace alone", async () => {
    await using cluster = await startCluster({ flavour: "embedded" });
    const { client } = cluster;
    const named = (name: string, level: string) =>
      client.create(Namespace, {
        metadata: { name, labels: { "pod-security.kubernetes.io/enforce": level } },
      });
    await named("open", "privileged");
    await named("strict", "baseline");
    for (const profile of ["rootless", "userns", "privileged"] as const) {
      const pod = podOf({ profile });
      const into = (namespace: string) =>
        client.create(
          Pod,
          { ...pod, metadata: { ...pod.metadata, namespace, name: `ci-${profile}` } },
          { dryRun: true },
        );
      await expect(into("open")).resolves.toBeDefined();
      await expect(into("strict")).rejects.toThrow(/violates PodSecurity/);
    }
  });
});

test("sizes are the original's, and resources in detail come first", () => {
  expect(daemonOf({}).resources).toEqual({
    requests: { cpu: "1", memory: "2Gi" },
    limits: { cpu: "4", memory: "4Gi" },
  });
  expect(daemonOf({ size: "sm" }).resources).toEqual({
    requests: { cpu: "500m", memory: "512Mi" },
    limits: { cpu: "2", memory: "2Gi" },
  });
  expect(daemonOf({ size: "xl" }).resources?.limits).toEqual({ cpu: "16", memory: "16Gi" });
  expect(daemonOf({ size: "xl", resources: { buildkit: { requests: { cpu: "1" } } } }).resources).toEqual({
    requests: { cpu: "1" },
  });
});

test("no probe can end a daemon, and a daemon that gets SIGTERM waits for its connections", () => {
  const daemon = daemonOf({ scaling: { provisionTimeout: "20m", drainTimeout: "2h" } });
  expect(daemon.livenessProbe).toBeUndefined();
  // Run in each of many idle workers, a command would keep a node busy.
  expect(daemon.readinessProbe).toMatchObject({ tcpSocket: { port: 1_234 } });
  expect(daemon.startupProbe).toMatchObject({ periodSeconds: 1, failureThreshold: 1_200 });
  // 1234 in hexadecimal.
  expect(daemon.lifecycle?.preStop?.exec?.command?.join(" ")).toContain(":04D2 ");
  expect(podOf({ scaling: { drainTimeout: "2h" } }).spec).toMatchObject({
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 7_230,
    automountServiceAccountToken: false,
  });
});

test("a worker in a slot with a volume keeps its cache there, and others in a folder of their pod", () => {
  const spec = { cache: { persistent: { maxVolumes: 1 } } };
  const stateOf = (slot: number) => podOf(spec, slot).spec?.volumes?.find(({ name }) => name === "state");
  expect(stateOf(0)).toMatchObject({ persistentVolumeClaim: { claimName: "ci-cache-0" } });
  expect(stateOf(1)).toMatchObject({ emptyDir: {} });
  const local = {
    cache: { backends: [{ type: "local", local: { storageClass: "fast", size: "5Gi" } }] },
  } as const;
  expect(podOf(local).spec?.volumes).toContainEqual(
    expect.objectContaining({ persistentVolumeClaim: { claimName: "ci-cache-0" } }),
  );
});

test("workers of a platform run on nodes of its architecture, whatever the pod template says", () => {
  const podTemplate = { spec: { nodeSelector: { disk: "nvme", "kubernetes.io/arch": "amd64" } } };
  expect(podOf({ platform: "linux/arm64/v8", podTemplate }).spec?.nodeSelector).toEqual({
    disk: "nvme",
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "arm64",
  });
  expect(podOf({ podTemplate }).spec?.nodeSelector).toEqual(podTemplate.spec.nodeSelector);
});

test("credentials of an S3 backend are variables of the daemon", () => {
  const s3 = { bucket: "cache", region: "eu-west-1", credentialsSecret: "aws" };
  expect(daemonOf({ cache: { backends: [{ type: "s3", s3 }] } }).env).toEqual([
    { name: "AWS_ACCESS_KEY_ID", valueFrom: { secretKeyRef: { name: "aws", key: "AWS_ACCESS_KEY_ID" } } },
    {
      name: "AWS_SECRET_ACCESS_KEY",
      valueFrom: { secretKeyRef: { name: "aws", key: "AWS_SECRET_ACCESS_KEY" } },
    },
  ]);
});

test("the pod template adds to the pod, and does not take from it what keeps it working", () => {
  const pod = podOf({
    podTemplate: {
      metadata: { labels: { team: "web" }, annotations: { note: "ours" } },
      spec: {
        nodeSelector: { disk: "nvme" },
        tolerations: [{ key: "builds", operator: "Exists" }],
        priorityClassName: "builds",
        imagePullSecrets: [{ name: "pull" }],
        volumes: [{ name: "extra", emptyDir: {} }],
        containers: [
          {
            name: "buildkitd",
            env: [{ name: "A", value: "b" }],
            volumeMounts: [{ name: "extra", mountPath: "/extra" }],
          },
          { name: "sidecar", image: "busybox:1.35" },
        ],
      },
    },
  });
  expect(pod.metadata.labels).toMatchObject({ team: "web", "buildkit.smrt-devops.net/worker": "true" });
  expect(pod.spec).toMatchObject({ nodeSelector: { disk: "nvme" }, priorityClassName: "builds" });
  expect(pod.spec?.containers.map(({ name }) => name)).toEqual(["buildkitd", "sidecar"]);
  const [daemon] = pod.spec?.containers ?? [];
  expect(daemon?.env).toEqual([{ name: "A", value: "b" }]);
  expect(daemon?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
    "/etc/buildkit",
    "/certs",
    "/home/user/.local/share/buildkit",
    "/extra",
  ]);
  expect(daemon?.args).toContain("--tlscacert=/certs/ca.crt");
});

test("the hash changes with what a worker is made from, and with nothing else", () => {
  const hash = (spec: PoolSpec) => configHashOf(BuildKitPool.make("ci", spec));
  const base = hash({});
  for (const other of [
    { size: "lg" },
    { profile: "privileged" },
    { buildkitImage: "moby/buildkit:v0.32.0" },
    { maxParallelism: 2 },
    { cache: { gc: { maxUsedSpace: "5Gi" } } },
    { podTemplate: { metadata: { labels: { a: "b" } } } },
    { buildkitConfig: "debug = true" },
  ] as const)
    expect(hash(other)).not.toBe(base);
  for (const same of [
    { scaling: { min: 3, max: 20 } },
    { gateway: { replicas: 3 } },
    { networking: { port: 4_444 } },
    { auth: { rbac: { enabled: false } } },
  ] as const)
    expect(hash(same)).toBe(base);
});
