import type { AnyKind } from "@windlass/client";
import {
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
} from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { WebApp } from "./model-run.fixture.ts";
import { isReady } from "./readiness.ts";

const metadata = { namespace: "default", name: "x", generation: 2 };
const all = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 2 };
const nodes = {
  desiredNumberScheduled: 3,
  updatedNumberScheduled: 3,
  numberAvailable: 3,
  observedGeneration: 2,
};
const condition = (type: string, status: string, more: object = {}) => ({
  conditions: [{ type, status, reason: "X", message: "", ...more }],
});

test.for<[string, AnyKind, object, boolean]>([
  ["all replicas are available", Deployment, { spec: { replicas: 2 }, status: all }, true],
  ["nothing is known yet", Deployment, { spec: { replicas: 2 } }, false],
  [
    "it is scaled to zero and seen",
    Deployment,
    { spec: { replicas: 0 }, status: { observedGeneration: 2 } },
    true,
  ],
  [
    "the spec is newer",
    Deployment,
    { spec: { replicas: 2 }, status: { ...all, observedGeneration: 1 } },
    false,
  ],
  ["old pods are left", Deployment, { spec: { replicas: 2 }, status: { ...all, replicas: 3 } }, false],
  [
    "one is not available",
    StatefulSet,
    { spec: { replicas: 2 }, status: { ...all, availableReplicas: 1 } },
    false,
  ],
  ["every node has its pod", DaemonSet, { status: nodes }, true],
  ["a node has an old pod", DaemonSet, { status: { ...nodes, updatedNumberScheduled: 2 } }, false],
  ["it is complete", Job, { status: condition("Complete", "True") }, true],
  ["it failed", Job, { status: condition("Failed", "True") }, false],
  ["it runs", Pod, { status: { phase: "Running", ...condition("Ready", "True") } }, true],
  ["it succeeded", Pod, { status: { phase: "Succeeded" } }, true],
  ["it starts", Pod, { status: { phase: "Pending" } }, false],
  ["it is active", Namespace, { status: { phase: "Active" } }, true],
  ["it is inside the cluster", Service, { spec: { type: "ClusterIP" } }, true],
  ["it has no address yet", Service, { spec: { type: "LoadBalancer" }, status: { loadBalancer: {} } }, false],
  ["it waits for its consumer", PersistentVolumeClaim, { status: { phase: "Pending" } }, true],
  ["it is established", CustomResourceDefinition, { status: condition("Established", "True") }, true],
  ["it exists", ConfigMap, {}, true],
  ["it has no condition yet", WebApp, {}, false],
  ["its condition is true", WebApp, { status: condition("Ready", "True", { observedGeneration: 2 }) }, true],
  [
    "it said so of an older spec",
    WebApp,
    { status: condition("Ready", "True", { observedGeneration: 1 }) },
    false,
  ],
  ["it says that it is not", WebApp, { status: condition("Ready", "False") }, false],
])("%s: a %j", ([, kind, fields, expected]) => {
  expect(isReady<AnyKind>(kind, { metadata, ...fields })).toBe(expected);
});

test("what is being deleted is not ready", () => {
  const going = { metadata: { ...metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } };
  expect(isReady(ConfigMap, going)).toBe(false);
});
