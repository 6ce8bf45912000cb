import { createHash } from "node:crypto";
import { type JsonObject, textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";

/** The status of a pod whose containers all run and are ready. */
export function runningStatus(pod: StoredObject, { now, ip }: { now: string; ip: string }): JsonObject {
  const conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"].map((type) => ({
    type,
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: now,
  }));
  const before = ((field(pod, "status", "conditions") ?? []) as JsonObject[]).filter(
    ({ type }) => type === "PodScheduled",
  );
  const containers = (field(pod, "spec", "containers") ?? []) as JsonObject[];
  const inits = (field(pod, "spec", "initContainers") ?? []) as JsonObject[];
  return {
    ...(pod.status as JsonObject | undefined),
    phase: "Running",
    conditions: [...conditions, ...before],
    hostIP: "10.255.0.1",
    hostIPs: [{ ip: "10.255.0.1" }],
    podIP: ip,
    podIPs: [{ ip }],
    startTime: now,
    ...(inits.length > 0
      ? { initContainerStatuses: inits.map((container) => finished(pod, container, now)) }
      : {}),
    containerStatuses: containers.map((container) => ({
      name: container.name as string,
      state: { running: { startedAt: now } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: container.image as string,
      imageID: imageId(container),
      containerID: containerId(pod, container),
      started: true,
    })),
  };
}

function finished(pod: StoredObject, container: JsonObject, now: string): JsonObject {
  const containerID = containerId(pod, container);
  return {
    name: container.name as string,
    state: { terminated: { exitCode: 0, reason: "Completed", startedAt: now, finishedAt: now, containerID } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: container.image as string,
    imageID: imageId(container),
    containerID,
    started: false,
  };
}

function imageId({ image }: JsonObject): string {
  return `${textOf(image).split(":")[0]}@sha256:${createHash("sha256").update(textOf(image)).digest("hex")}`;
}

function containerId(pod: StoredObject, { name }: JsonObject): string {
  return `windlass://${createHash("sha256")
    .update(`${pod.metadata.uid}/${textOf(name)}`)
    .digest("hex")}`;
}
