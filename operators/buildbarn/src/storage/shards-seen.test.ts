import type { ObjectOf } from "@windlass/runtime";
import type { Deployment, Pod } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import type { ResultUse } from "../resharding/index.ts";
import { clientsOf, recovered } from "./shards-seen.ts";

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
  [["2"], { phase: "Stable", shards: 2 }],
  [["2", "2+3"], { phase: "Bridging", from: 2, to: 3 }],
  [["2", "2+3", "2-3"], { phase: "Redirecting", from: 2, to: 3 }],
  // To go back to where results are written by the old map would hide them from those that have the new one alone.
  [["3", "2-3"], { phase: "Redirecting", from: 2, to: 3 }],
  [["nonsense"], { phase: "Stable", shards: 7 }],
  [["2-3-4"], { phase: "Stable", shards: 7 }],
  [[], { phase: "Stable", shards: 7 }],
] as const)("a state that was lost is found again from the maps of clients: %j", ([maps, state]) => {
  const results: ResultUse = "reads";
  expect(
    recovered(
      maps.map((map) => ({ name: "pod", map, results })),
      7,
    ),
  ).toEqual(state);
});
