import fc from "fast-check";
import { expect, test } from "vitest";
import { clone, isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { valueAt } from "../json-fields.ts";
import { backendsOf } from "../processes/service-proxy.ts";
import { StatusError } from "../status.ts";
import type { StoredObject } from "../storage/store.ts";
import { typed } from "../storage/typed.ts";
import { podTemplate, startCluster, type TestCluster, workload } from "./cluster.fixture.ts";

const time = "2026-01-01T00:00:00Z";
const condition = {
  status: "False",
  reason: "Tried",
  message: "m",
  lastTransitionTime: time,
  lastUpdateTime: time,
  lastProbeTime: time,
};
const ended = { terminated: { exitCode: 1, startedAt: time, finishedAt: time, reason: "Error" } };
const containerStatus = {
  name: "main",
  image: "i",
  imageID: "",
  ready: false,
  restartCount: 1,
  state: ended,
  lastState: ended,
};
const jobSpec = {
  backoffLimit: 3,
  ttlSecondsAfterFinished: 5,
  template: podTemplate({ job: "x" }, { spec: { restartPolicy: "Never" } }),
  podFailurePolicy: {
    rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
  },
};
const podStatus = (state: JsonObject, ready: string): JsonObject => ({
  phase: "Failed",
  startTime: time,
  conditions: [{ ...condition, type: "Ready", status: ready }],
  containerStatuses: [{ ...containerStatus, state }],
});

/** What is created, and what is then written to its status. */
interface Case {
  readonly bucket: string;
  readonly object: JsonObject;
  readonly status?: JsonObject;
}

const owned = (kind: string, name: string, apiVersion: string) => ({ apiVersion, kind, name });

const cases: readonly Case[] = [
  {
    bucket: "deployments.apps",
    object: workload("Deployment", "a", { progressDeadlineSeconds: 2, minReadySeconds: 1 }),
    status: { conditions: [{ ...condition, type: "Progressing", status: "True" }] },
  },
  {
    bucket: "replicasets.apps",
    object: workload("ReplicaSet", "b", { replicas: 2 }),
    status: { conditions: [{ ...condition, type: "ReplicaFailure" }], replicas: 1 },
  },
  {
    bucket: "statefulsets.apps",
    object: workload("StatefulSet", "c", {
      serviceName: "c",
      volumeClaimTemplates: [
        {
          metadata: { name: "d" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    }),
    status: { replicas: 1, conditions: [{ ...condition, type: "X" }] },
  },
  {
    bucket: "daemonsets.apps",
    object: workload("DaemonSet", "d"),
    status: {
      currentNumberScheduled: 1,
      desiredNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 0,
      conditions: [{ ...condition, type: "X" }],
    },
  },
  {
    bucket: "jobs.batch",
    object: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "e" }, spec: jobSpec },
    status: { startTime: time, failed: 1, conditions: [{ ...condition, type: "Suspended" }] },
  },
  {
    bucket: "cronjobs.batch",
    object: {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "f" },
      spec: { schedule: "* * * * *", jobTemplate: { spec: jobSpec } },
    },
    status: { lastScheduleTime: time, lastSuccessfulTime: time },
  },
  {
    bucket: "pods",
    object: { apiVersion: "v1", kind: "Pod", ...podTemplate({ app: "b" }), metadata: { name: "g" } },
    status: podStatus(ended, "False"),
  },
  {
    bucket: "pods",
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "h", labels: { app: "b" } },
      spec: {
        restartPolicy: "Always",
        containers: [{ name: "main", image: "i" }],
        volumes: [{ name: "v", projected: { sources: [{ downwardAPI: { items: [] } }] } }],
      },
    },
    status: { ...podStatus({ running: { startedAt: time } }, "True"), phase: "Running" },
  },
  {
    bucket: "services",
    object: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "i" },
      spec: { selector: { app: "b" }, ports: [{ name: "http", port: 80, targetPort: 80 }] },
    },
    status: { conditions: [{ ...condition, type: "X" }] },
  },
  {
    bucket: "endpointslices.discovery.k8s.io",
    object: {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "j", labels: { "kubernetes.io/service-name": "i" } },
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.1.1.1"], conditions: { ready: true }, targetRef: owned("Pod", "g", "v1") },
      ],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    },
  },
  {
    bucket: "nodes",
    object: { apiVersion: "v1", kind: "Node", metadata: { name: "k" } },
    status: {
      conditions: [{ ...condition, type: "Ready", status: "True", lastHeartbeatTime: time }],
      images: [{ names: ["i"], sizeBytes: 1 }],
      capacity: { pods: "10" },
      allocatable: { pods: "10" },
    },
  },
  {
    bucket: "persistentvolumeclaims",
    object: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "l" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        dataSource: { apiGroup: "", kind: "PersistentVolumeClaim", name: "m" },
      },
    },
    status: { conditions: [{ ...condition, type: "Resizing" }] },
  },
  {
    bucket: "persistentvolumes",
    object: {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "m" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        azureFile: { secretName: "s", shareName: "s", secretNamespace: "n" },
        claimRef: { namespace: "default", name: "l" },
      },
    },
    status: { phase: "Bound" },
  },
  {
    bucket: "horizontalpodautoscalers.autoscaling",
    object: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "n" },
      spec: { maxReplicas: 3, scaleTargetRef: owned("Deployment", "a", "apps/v1") },
    },
    status: { desiredReplicas: 1, conditions: [{ ...condition, type: "AbleToScale" }] },
  },
  {
    bucket: "poddisruptionbudgets.policy",
    object: {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "o" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "b" } } },
    },
    status: { conditions: [{ ...condition, type: "X" }], disruptedPods: { g: time } },
  },
  {
    bucket: "clusterroles.rbac.authorization.k8s.io",
    object: {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "p", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
      rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    },
  },
  {
    bucket: "limitranges",
    object: {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "q" },
      spec: { limits: [{ type: "Container", max: { cpu: "4" } }] },
    },
  },
  {
    bucket: "namespaces",
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "r" } },
    status: { phase: "Active", conditions: [{ ...condition, type: "X" }] },
  },
  {
    bucket: "resourceclaims.resource.k8s.io",
    object: {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name: "s" },
      spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } },
    },
  },
];

/** The paths of everything in a value, from the outside in. */
function pathsIn(value: Json, at: readonly string[] = []): (readonly string[])[] {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return entries.flatMap(([key, held]) => [[...at, key], ...pathsIn(held, [...at, key])]);
}

/** Without what is at the path: an item leaves its list, and the last one leaves it empty. */
function leaveOut(object: JsonObject, path: readonly string[]): void {
  const owner = path.slice(0, -1).reduce<Json | undefined>((held, key) => at(held, key), object);
  const key = path.at(-1) ?? "";
  if (Array.isArray(owner)) owner.splice(Number(key), 1);
  else if (isObject(owner)) delete owner[key];
}

function at(held: Json | undefined, key: string): Json | undefined {
  return Array.isArray(held) ? held[Number(key)] : isObject(held) ? held[key] : undefined;
}

/** A case of which some fields are left out; `apiVersion`, `kind` and the name stay. */
const lessOf = ({ bucket, object, status }: Case): fc.Arbitrary<Case> => {
  const kept = /^(apiVersion|kind|metadata|metadata\.name)$/;
  const paths = (of: JsonObject) => pathsIn(of).filter((path) => !kept.test(path.join(".")));
  const without = (of: JsonObject) =>
    fc.subarray(paths(of), { maxLength: Math.min(4, paths(of).length) }).map((gone) => {
      const less = clone(of);
      for (const path of gone.toReversed()) leaveOut(less, path);
      return less;
    });
  return status === undefined
    ? without(object).map((less) => ({ bucket, object: less }))
    : fc.record({ object: without(object), status: without(status) }).map((less) => ({ bucket, ...less }));
};

/** What the server refuses no controller sees. @returns whether it was taken */
async function taken(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}

async function write(cluster: TestCluster, { bucket, object, status }: Case): Promise<boolean> {
  if (!(await taken(cluster.create(object)))) return false;
  const name = textOf(valueAt(object, "metadata", "name"));
  if (status === undefined || cluster.get(bucket, name) === undefined) return true;
  return await taken(
    cluster.changeStatus(bucket, name, (live) => {
      live.status = clone(status);
    }),
  );
}

test("controllers and nodes cope with whatever is left out of an object", { timeout: 60_000 }, async () => {
  let written = 0;
  await fc.assert(
    fc.asyncProperty(fc.tuple(...cases.map(lessOf)), async (objects) => {
      // Its fixture fails with the first error that a controller does not expect.
      await using cluster = await startCluster();
      for (const one of objects) if (await write(cluster, one)) written++;
      await cluster.pass(90_000);
      for (const service of cluster.list("services")) proxy(cluster, service);
    }),
    { numRuns: 15 },
  );
  // Most are taken: else nothing would be tried.
  expect(written).toBeGreaterThan((15 * cases.length) / 3);
});

function proxy({ plane }: TestCluster, service: StoredObject): void {
  backendsOf(plane.registry, typed(service), "http");
}
