import { Deployment, Pod } from "@windlass/runtime/kinds";
import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { type App, WebApp } from "./index.ts";
import { observe } from "./status.ts";

const app = (status?: Parameters<typeof WebApp.make>[2], metadata: object = {}): App =>
  WebApp.make({ name: "shop", namespace: "web", ...metadata }, { image: "nginx:1.25", replicas: 3 }, status);

function deployment(counts: object, reason = "ReplicaSetUpdated", generation = 2) {
  return existing(Deployment, {
    metadata: { namespace: "web", name: "shop", generation },
    spec: { replicas: 3 },
    status: {
      observedGeneration: 2,
      replicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      conditions: [{ type: "Progressing", status: "True", reason }],
      ...counts,
    },
  }).object;
}

test("an app is Created until the operator has made its Deployment", () => {
  expect(observe(app()).status.phase).toBe("Created");
});

test("a Deployment that its controller has not seen yet is Reconciling, whatever its counts say", () => {
  expect(observe(app(), deployment({}, "NewReplicaSetAvailable", 3)).status.phase).toBe("Reconciling");
});

test("a rollout is WaitingForPods until every replica is new and available", () => {
  for (const counts of [{ availableReplicas: 2 }, { updatedReplicas: 1 }, { replicas: 4 }])
    expect(observe(app(), deployment(counts)).status.phase).toBe("WaitingForPods");
  expect(observe(app(), deployment({})).status.phase).toBe("Ready");
});

test("a rolled out template that comes to more or fewer pods is Scaling, until they are available", () => {
  const rolledOut = "NewReplicaSetAvailable";
  expect(observe(app(), deployment({ replicas: 1, availableReplicas: 1 }, rolledOut)).status.phase).toBe(
    "Scaling",
  );
  const late = deployment({ availableReplicas: 1 }, rolledOut);
  expect(observe(app({ phase: "Scaling" }), late).status.phase).toBe("Scaling");
  expect(observe(app({ phase: "Ready" }), late).status.phase).toBe("WaitingForPods");
});

test("an app that is being deleted is Deleting", () => {
  const going = app({ phase: "Ready" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(observe(going, deployment({})).status.phase).toBe("Deleting");
});

test("what is wrong with a pod is the reason, and in the message beside the count", () => {
  const containerStatuses = [
    {
      name: "app",
      image: "nginx:nope",
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: "ErrImagePull" } },
    },
  ];
  const pod = existing(Pod, {
    metadata: { namespace: "web", name: "shop-1" },
    status: { containerStatuses },
  }).object;
  const { status } = observe(app(), deployment({ availableReplicas: 2 }), () => [pod]);
  const fault = "pod shop-1 cannot pull image nginx:nope";
  expect(status.conditions).toMatchObject([
    {
      type: "Ready",
      status: "False",
      reason: "ImagePullFailed",
      message: `2 of 3 replicas are available; ${fault}`,
    },
    { type: "Progressing", status: "True" },
    { type: "Degraded", status: "True", reason: "ImagePullFailed", message: fault },
  ]);
});

test("a rollout past its deadline no longer progresses", () => {
  const conditions = [
    { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" },
  ];
  const { status } = observe(app(), deployment({ availableReplicas: 0, conditions }));
  expect(status.conditions?.map((one) => one.status)).toEqual(["False", "False", "True"]);
});

test("an event is news: there is none while the reason stays the same", () => {
  const first = observe(app(), deployment({}));
  expect(first.events).toEqual([
    { type: "Normal", reason: "Ready", message: "3 of 3 replicas are available" },
  ]);
  const again = app(first.status);
  expect(observe(again, deployment({})).events).toEqual([]);
});
