import type { ObjectOf } from "@windlass/runtime";
import type { Deployment, Pod, StatefulSet } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import type { ResultUse } from "../resharding/index.ts";
import { clientsOf, leavingShards, readyShards, recovered } from "./shards-seen.ts";

const meta = (name: string, app: string, map: string) => ({
  name,
  namespace: "builds",
  labels: { app, "buildbarn.io/cluster": "bb", "buildbarn.io/shard-client": "true" },
  annotations: { "buildbarn.io/shard-map": map },
});
const pod = (app: string, map: string): ObjectOf<typeof Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: meta(`${app}-1`, app, map),
  spec: { containers: [] },
  status: { phase: "Running" },
});
const deployment = (
  map: string,
  generation: number,
  status: NonNullable<ObjectOf<typeof Deployment>["status"]>,
): ObjectOf<typeof Deployment> => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "frontend", namespace: "builds", generation },
  spec: { selector: {}, template: { metadata: meta("", "frontend", map), spec: { containers: [] } } },
  status,
});

test("workers only write results; frontends and browsers read them", () => {
  const clients = clientsOf("bb", [], [pod("worker", "2"), pod("frontend", "2+3"), pod("browser", "2+3")]);
  expect(clients.map(({ name, results }) => [name, results])).toEqual([
    ["Pod worker-1", "writes"],
    ["Pod frontend-1", "reads"],
    ["Pod browser-1", "reads"],
  ]);
});

test.for([
  ["has not seen its template", 2, { observedGeneration: 1, replicas: 2, updatedReplicas: 2 }, undefined],
  ["has pods of an earlier one", 2, { observedGeneration: 2, replicas: 3, updatedReplicas: 2 }, undefined],
  ["has rolled it out", 2, { observedGeneration: 2, replicas: 2, updatedReplicas: 2 }, "2-3"],
  ["has no pods", 2, { observedGeneration: 2 }, "2-3"],
] as const)("a Deployment that %s has the map %s", ([, generation, status, map]) => {
  expect(clientsOf("bb", [deployment("2-3", generation, status)], [])).toEqual([
    { name: "Deployment frontend", map, results: "reads" },
  ]);
});

test.for([
  [["2"], { phase: "Stable", at: { shards: 2 } }],
  [["2", "2+3"], { phase: "Bridging", from: { shards: 2 }, to: { shards: 3 } }],
  [["2", "2+3", "2-3"], { phase: "Redirecting", from: { shards: 2 }, to: { shards: 3 } }],
  // To go back to where results are written by the old map would hide them from those that have the
  // new one alone.
  [["3", "2-3"], { phase: "Redirecting", from: { shards: 2 }, to: { shards: 3 } }],
  [["3w2d1m"], { phase: "Stable", at: { shards: 3, weights: [2], drained: [1], isMirrored: true } }],
  [
    ["2m-3d1"],
    { phase: "Redirecting", from: { shards: 2, isMirrored: true }, to: { shards: 3, drained: [1] } },
  ],
  [["nonsense"], { phase: "Stable", at: { shards: 7, weights: [5] } }],
  [["2", "nonsense"], { phase: "Stable", at: { shards: 7, weights: [5] } }],
  [["2-3-4"], { phase: "Stable", at: { shards: 7, weights: [5] } }],
  [[], { phase: "Stable", at: { shards: 7, weights: [5] } }],
] as const)("a state that was lost is found again from the maps of clients: %j", ([maps, state]) => {
  const results: ResultUse = "reads";
  expect(
    recovered(
      maps.map((map) => ({ name: "pod", map, results })),
      { shards: 9, weights: [5] },
      7,
    ),
  ).toEqual(state);
});

const shard = (name: string, own: object = {}): ObjectOf<typeof Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "builds", labels: { "controller-revision-hash": "new" }, ...own },
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
});
const statefulSet = (name: string): ObjectOf<typeof StatefulSet> => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name, namespace: "builds", generation: 2 },
  spec: { selector: {}, template: { spec: { containers: [] } } },
  status: { replicas: 3, observedGeneration: 2, updateRevision: "new" },
});

test("shards and mirrors are told apart by their names, and count once they are ready with the present template", () => {
  const pods = [
    shard("s-0"),
    shard("s-2"),
    shard("s-1", { labels: { "controller-revision-hash": "old" } }),
    shard("s-3", { deletionTimestamp: "2026-11-18T00:00:00Z" }),
    shard("s-b-0"),
    shard("s-b-10"),
    shard("s-x"),
  ];
  const numbers = (of: readonly { readonly number: number }[]) => of.map(({ number }) => number);
  expect(numbers(readyShards("a", statefulSet("s"), pods))).toEqual([0, 2]);
  expect(numbers(readyShards("b", statefulSet("s-b"), pods))).toEqual([0, 10]);
  expect(leavingShards("s", 2, pods)).toBe(2);
  expect(leavingShards("s-b", 0, pods)).toBe(2);
  expect(leavingShards("s-b", 11, pods)).toBe(0);
  const unseen = statefulSet("s");
  expect(readyShards("a", { ...unseen, metadata: { ...unseen.metadata, generation: 3 } }, pods)).toEqual([]);
});
