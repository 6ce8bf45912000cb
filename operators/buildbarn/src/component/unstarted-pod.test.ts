import type { ObjectOf } from "@windlass/runtime";
import { Pod } from "@windlass/runtime/kinds";
import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { unstartedPod } from "./unstarted-pod.ts";

type PodObject = ObjectOf<typeof Pod>;

function pod(name: string, conditions: Readonly<Record<string, "True" | "False">>, secretName?: string) {
  return existing(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name },
    spec: {
      containers: [{ name: "program", image: "example.com/program:1" }],
      volumes: [
        { name: "configs", configMap: { name: "configs" } },
        ...(secretName === undefined ? [] : [{ name: "pair", secret: { secretName } }]),
      ],
    },
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  }).object;
}

const placed = { PodScheduled: "True", PodReadyToStartContainers: "False" } as const;

test.for<readonly [string, readonly PodObject[], string | undefined]>([
  [
    "a Secret that is not there",
    [pod("b", placed, "later"), pod("a", placed, "pair")],
    "pod a waits for its volumes, such as Secret pair, or its network",
  ],
  ["no Secret at all", [pod("a", placed)], "pod a waits for its volumes, or its network"],
  ["nothing, because it has no node", [pod("a", { ...placed, PodScheduled: "False" }, "pair")], undefined],
  ["nothing, for it runs", [pod("a", { ...placed, PodReadyToStartContainers: "True" }, "pair")], undefined],
  [
    "nothing, because it is being deleted",
    [
      {
        ...pod("a", placed),
        metadata: { namespace: "default", name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" },
      },
    ],
    undefined,
  ],
])("a pod that cannot start is named, with what it may wait for: %s", ([, pods, said]) => {
  expect(unstartedPod(pods)).toBe(said);
});
