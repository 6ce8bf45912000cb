import type { ObjectOf } from "@windlass/client";
import { Deployment, Pod } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { existing } from "../testing/index.ts";
import { lastLineOf, podFault, workloadFault } from "./pod-fault.ts";

type PodStatus = NonNullable<ObjectOf<typeof Pod>["status"]>;
type Container = NonNullable<PodStatus["containerStatuses"]>[number];

const pod = (name: string, status: PodStatus, more: { deleted?: boolean; restartPolicy?: "Never" } = {}) => {
  const { metadata, ...rest } = existing(Pod, {
    metadata: { namespace: "web", name },
    spec: { containers: [], ...(more.restartPolicy && { restartPolicy: more.restartPolicy }) },
    status,
  }).object;
  const gone = more.deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return { ...rest, metadata: { ...metadata, ...gone } };
};
const container = (more: Partial<Container>): Container => ({
  name: "app",
  image: "nginx:1",
  imageID: "",
  ready: false,
  restartCount: 0,
  ...more,
});
const waiting = (reason: string, message?: string) =>
  container({ state: { waiting: { reason, ...(message !== undefined && { message }) } } });
const ended = (exitCode: number, message?: string) => ({
  terminated: { exitCode, ...(message !== undefined && { message }) },
});
const of = (one: Container) => podFault([pod("web-1", { containerStatuses: [one] })]);

describe("what is wrong with a pod", () => {
  test("trying to pull an image and waiting to try again are one fault, in the same words", () => {
    const fault = { reason: "ImagePullFailed", message: "pod web-1 cannot pull image nginx:1" };
    for (const reason of ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"])
      expect(of(waiting(reason))).toEqual(fault);
  });

  test("a container that ended is crashing also while it runs between two crashes, and well once it is ready", () => {
    const fault = {
      reason: "CrashLoop",
      message: "container app of pod web-1 ended with exit code 3: no port",
    };
    const end = ended(3, "starting\n2026-01-01T10:00:00.123Z no port\n");
    expect(of(container({ state: end }))).toEqual(fault);
    expect(of(container({ state: { running: {} }, lastState: end }))).toEqual(fault);
    expect(of({ ...waiting("CrashLoopBackOff"), lastState: end })).toEqual(fault);
    expect(of(container({ state: { running: {} }, lastState: end, ready: true }))).toBeUndefined();
  });

  test("a container that ends without an error crashes only where it is started again", () => {
    expect(of(container({ state: ended(0) }))?.message).toBe(
      "container app of pod web-1 ended with exit code 0",
    );
    const done = { containerStatuses: [container({ state: ended(0) })] };
    expect(podFault([pod("job-1", done, { restartPolicy: "Never" })])).toBeUndefined();
    const prepared = { initContainerStatuses: [container({ name: "init", state: ended(0) })] };
    expect(podFault([pod("web-1", prepared)])).toBeUndefined();
    const failing = { initContainerStatuses: [container({ name: "init", state: ended(1) })] };
    expect(podFault([pod("web-1", failing)])?.message).toBe(
      "container init of pod web-1 ended with exit code 1",
    );
  });

  test("the kubelet's own reason is kept, and a pod without a node says why", () => {
    expect(of(waiting("CreateContainerConfigError", 'secret "a" not found'))).toEqual({
      reason: "CreateContainerConfigError",
      message: 'container app of pod web-1 cannot start: secret "a" not found',
    });
    const conditions = [{ type: "PodScheduled", status: "False", message: "0/1 nodes" }];
    expect(podFault([pod("web-1", { conditions })])).toEqual({
      reason: "Unschedulable",
      message: "pod web-1 has no node: 0/1 nodes",
    });
    expect(of(waiting("ContainerCreating"))).toBeUndefined();
  });

  test("pods that are being deleted do not count, and of several the first by name is named", () => {
    const status = { containerStatuses: [waiting("ErrImagePull")] };
    const pods = [pod("web-3", status), pod("web-2", status), pod("web-1", status, { deleted: true })];
    expect(podFault(pods)?.message).toContain("pod web-2");
    expect(podFault([])).toBeUndefined();
  });

  test.for([
    ["2026/01/01 10:00:00 fatal: no", ": fatal: no"],
    ["[2026-01-01 10:00:00,5] no", ": no"],
    ["first\nlast\n\n", ": last"],
    ["", ""],
    ["x".repeat(600), `: ${"x".repeat(500)}`],
  ] as const)("of %j the last words are %j", ([message, words]) => {
    expect(lastLineOf(message)).toBe(words);
  });
});

describe("what keeps a workload from being ready", () => {
  const deployment = (type: string, status: string, reason: string, message: string) =>
    existing(Deployment, {
      metadata: { namespace: "web", name: "web" },
      status: { conditions: [{ type, status, reason, message }] },
    }).object;

  test("a quota, a refusal of its pods and a rollout past its deadline are distinguished", () => {
    const refused = (message: string) => deployment("ReplicaFailure", "True", "FailedCreate", message);
    expect(workloadFault(refused("exceeded quota: one-pod"), [])?.reason).toBe("QuotaExceeded");
    expect(workloadFault(refused("denied the request"), [])).toEqual({
      reason: "PodsRefused",
      message: "denied the request",
    });
    expect(workloadFault(deployment("ReplicaFailure", "False", "FailedCreate", ""), [])).toBeUndefined();
    const late = deployment("Progressing", "False", "ProgressDeadlineExceeded", "timed out");
    expect(workloadFault(late, [])).toEqual({ reason: "ProgressDeadlineExceeded", message: "timed out" });
    expect(workloadFault(deployment("Progressing", "True", "ReplicaSetUpdated", ""), [])).toBeUndefined();
  });

  test("a fault of its pods comes first", () => {
    const pods = [pod("web-1", { containerStatuses: [waiting("ErrImagePull")] })];
    const late = deployment("Progressing", "False", "ProgressDeadlineExceeded", "timed out");
    expect(workloadFault(late, pods)?.reason).toBe("ImagePullFailed");
  });
});
