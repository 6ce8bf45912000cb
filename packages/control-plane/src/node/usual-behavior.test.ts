import type { Pod } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { storedObject } from "../storage/stored.fixture.ts";
import type { Stored } from "../storage/typed.ts";
import { usualBehavior } from "./usual-behavior.ts";

const ownedBy = (kind: string) => [{ apiVersion: "batch/v1", kind, name: "x", uid: "u", controller: true }];

function pod(restartPolicy: string, container: JsonObject, ownerReferences: JsonObject[] = []): Stored<Pod> {
  return storedObject({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", uid: "u", resourceVersion: "1", ownerReferences },
    spec: { restartPolicy, containers: [{ name: "main", image: "i", ...container }] },
  });
}

test.for<[string, JsonObject, string | undefined, object]>([
  ["Always", { command: ["wget"] }, undefined, { kind: "run" }],
  ["OnFailure", { command: ["wget"] }, undefined, { kind: "run" }],
  ["Never", {}, undefined, { kind: "run" }],
  ["Never", { command: ["wget"], args: ["web:80"] }, undefined, { kind: "succeed" }],
  ["Never", { args: ["test"] }, undefined, { kind: "succeed" }],
  ["Never", { command: ["sleep", "300"] }, undefined, { kind: "succeed", afterMs: 300_000 }],
  [
    "Never",
    { command: ["sh", "-c", "echo a; sleep 1.5m && exit 0"] },
    undefined,
    { kind: "succeed", afterMs: 90_000 },
  ],
  ["Never", { command: ["sleep", "infinity"] }, undefined, { kind: "run" }],
  ["Never", { command: ["sh", "-c", "while true; do sleep 1; done"] }, undefined, { kind: "run" }],
  ["Never", { command: ["tail", "-f", "/dev/null"] }, undefined, { kind: "run" }],
  ["Never", { command: ["wget"] }, "ReplicaSet", { kind: "run" }],
  ["Never", {}, "Job", { kind: "succeed" }],
  ["OnFailure", { command: ["sleep", "300"] }, "Job", { kind: "succeed", afterMs: 300_000 }],
  ["Never", { command: ["/agnhost", "pause"] }, "Job", { kind: "run" }],
])("restarted %s, with %j, of %s: %j", ([policy, container, owner, behavior]) => {
  const owners = owner === undefined ? [] : ownedBy(owner);
  expect(usualBehavior(pod(policy, container, owners), "main")).toEqual(behavior);
});
