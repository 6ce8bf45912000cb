import type { DeepPartial } from "@windlass/client";
import { Pod } from "@windlass/runtime/kinds";
import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { seenPod } from "./pod-observation.ts";

const pod = (status: DeepPartial<Pod["status"]>, metadata: DeepPartial<Pod["metadata"]> = {}) =>
  seenPod(existing(Pod, { metadata: { ...metadata, name: "w" }, status, spec: { nodeName: "a" } }).object);
const daemon = (own: object) => ({
  containerStatuses: [{ name: "buildkitd", image: "moby/buildkit:x", ...own }],
});
const isReady = { conditions: [{ type: "Ready", status: "True" }] };

test("a pod is starting until its daemon has answered, ready while it does, and unready when it does not", () => {
  expect(seenPod(undefined)).toEqual({ is: "absent" });
  expect(pod({ phase: "Pending" })).toEqual({ is: "starting" });
  const running = daemon({ started: false, state: { running: {} } });
  expect(pod({ phase: "Running", podIP: "10.0.0.1", ...running })).toEqual({ is: "starting" });
  expect(pod({ phase: "Running", podIP: "10.0.0.1", ...isReady })).toEqual({
    is: "ready",
    ip: "10.0.0.1",
    node: "a",
  });
  const started = daemon({ started: true, state: { running: {} } });
  expect(pod({ phase: "Running", podIP: "10.0.0.1", ...started })).toMatchObject({ is: "unready" });
});

test("a pod without a node waits, and so does one whose image may yet come", () => {
  const conditions = [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available" }];
  expect(pod({ phase: "Pending", conditions })).toMatchObject({
    problem: { reason: "Unschedulable", message: expect.stringContaining("0/3 nodes"), isFinal: false },
  });
  const waiting = (reason: string) =>
    pod({ phase: "Pending", ...daemon({ state: { waiting: { reason, message: "denied" } } }) });
  expect(waiting("ErrImagePull")).toMatchObject({ problem: { reason: "ImagePullFailed", isFinal: false } });
  expect(waiting("ImagePullBackOff")).toMatchObject({
    problem: { message: "image moby/buildkit:x cannot be pulled: denied", isFinal: true },
  });
  expect(waiting("CreateContainerConfigError")).toMatchObject({ problem: { isFinal: false } });
  expect(waiting("ContainerCreating")).toEqual({ is: "starting" });
});

test("a daemon that has ended is reported with its exit code and its last words", () => {
  const terminated = {
    exitCode: 1,
    reason: "Error",
    message: "can't enable NoProcessSandbox without Rootless\n",
  };
  expect(pod({ phase: "Failed", ...daemon({ state: { terminated } }) })).toEqual({
    is: "ended",
    reason: "Error",
    message: "buildkitd ended with exit code 1: can't enable NoProcessSandbox without Rootless",
  });
  expect(
    pod({ phase: "Failed", reason: "Evicted", message: "The node was low on resource: ephemeral-storage." }),
  ).toEqual({
    is: "ended",
    reason: "Evicted",
    message: "The node was low on resource: ephemeral-storage.",
  });
});

test("a pod that is being deleted may still build", () => {
  const metadata = { deletionTimestamp: "2026-11-16T10:00:00Z" };
  expect(pod({ phase: "Running", podIP: "10.0.0.1", ...isReady }, metadata)).toEqual({
    is: "stopping",
    ip: "10.0.0.1",
  });
});
