import { expect, test } from "vitest";
import {
  names,
  podTemplate,
  startCluster,
  type TestCluster,
  workload,
} from "../../controllers/cluster.fixture.ts";
import { type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";

const setImage = (image: string) => (object: JsonObject) => {
  const containers = valueAt(object, "spec", "template", "spec", "containers") as JsonObject[];
  for (const container of containers) container.image = image;
};
const condition = (cluster: TestCluster, type: string) =>
  ((valueAt(cluster.get("deployments.apps", "web"), "status", "conditions") ?? []) as JsonObject[]).find(
    (one) => one.type === type,
  );
const sizes = (cluster: TestCluster) =>
  cluster
    .list("replicasets.apps")
    .map(
      (set) =>
        [
          textOf(valueAt(set, "metadata", "annotations", "deployment.kubernetes.io/revision")),
          valueAt(set, "spec", "replicas"),
        ] as const,
    )
    .sort(([a], [b]) => Number(a) - Number(b));

test("a Deployment's pods become available, and its status and events say how it came about", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 2 }));
  const [set] = cluster.list("replicasets.apps");
  expect(set?.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]+$/);
  expect(set?.metadata.annotations).toMatchObject({
    "deployment.kubernetes.io/desired-replicas": "2",
    "deployment.kubernetes.io/max-replicas": "3",
    "deployment.kubernetes.io/revision": "1",
  });
  expect(cluster.get("deployments.apps", "web")?.status).toMatchObject({
    observedGeneration: cluster.get("deployments.apps", "web")?.metadata.generation,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    terminatingReplicas: 0,
    conditions: [
      { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
      {
        type: "Progressing",
        status: "True",
        reason: "NewReplicaSetAvailable",
        message: `ReplicaSet "${set?.metadata.name}" has successfully progressed.`,
      },
    ],
  });
  expect(cluster.events("Deployment")).toEqual([
    `ScalingReplicaSet: Scaled up replica set ${set?.metadata.name} from 0 to 2`,
  ]);
  expect(cluster.events("ReplicaSet").sort()).toEqual(
    names(cluster.list("pods")).map((name) => `SuccessfulCreate: Created pod: ${name}`),
  );
});

test("a new template rolls out, and the old one comes back as a new revision when it is asked for again", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 2 }));
  await cluster.change("deployments.apps", "web", setImage("example/app:2"));
  expect(sizes(cluster)).toEqual([
    ["1", 0],
    ["2", 2],
  ]);
  await cluster.change("deployments.apps", "web", setImage("example/app:1"));
  expect(sizes(cluster)).toEqual([
    ["2", 0],
    ["3", 2],
  ]);
  const current = cluster.list("replicasets.apps").find((set) => valueAt(set, "spec", "replicas") === 2);
  expect(current?.metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision-history": "1" });
  expect(
    valueAt(
      cluster.get("deployments.apps", "web"),
      "metadata",
      "annotations",
      "deployment.kubernetes.io/revision",
    ),
  ).toBe("3");
});

test("revisions go on from that of an adopted set, be it greater than a double counts to", async () => {
  await using cluster = await startCluster();
  const template = podTemplate({ app: "web", age: "old" });
  const adopted = workload("ReplicaSet", "web", { replicas: 1, template });
  const annotations = { "deployment.kubernetes.io/revision": "3546343826724305832" };
  await cluster.create({ ...adopted, metadata: { name: "web", labels: { app: "web" }, annotations } });
  await cluster.create(workload("Deployment", "web", { replicas: 1 }));
  expect(
    valueAt(
      cluster.get("deployments.apps", "web"),
      "metadata",
      "annotations",
      "deployment.kubernetes.io/revision",
    ),
  ).toBe("3546343826724305833");
});

test("no more than the allowed number of pods is missing or surplus while a template that never works rolls out", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.missingImages("example/broken:*");
  await cluster.create(workload("Deployment", "web", { replicas: 4 }));
  await cluster.change("deployments.apps", "web", setImage("example/broken:1"));
  expect(sizes(cluster)).toEqual([
    ["1", 3],
    ["2", 2],
  ]);
  expect(condition(cluster, "Progressing")).toMatchObject({ status: "True", reason: "ReplicaSetUpdated" });
  await cluster.pass(602_000);
  expect(condition(cluster, "Progressing")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
  });
  expect(condition(cluster, "Available")).toMatchObject({ status: "True" });
});

test("scaling in the middle of a rollout keeps the proportions", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.missingImages("example/broken:*");
  await cluster.create(
    workload("Deployment", "web", {
      replicas: 10,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
    }),
  );
  await cluster.change("deployments.apps", "web", setImage("example/broken:1"));
  expect(sizes(cluster)).toEqual([
    ["1", 8],
    ["2", 5],
  ]);
  await cluster.change("deployments.apps", "web", (object) => {
    (object.spec as JsonObject).replicas = 15;
  });
  expect(sizes(cluster)).toEqual([
    ["1", 11],
    ["2", 7],
  ]);
});

test("a paused Deployment takes up a new template only once it is resumed", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 1 }));
  await cluster.change("deployments.apps", "web", (object) => {
    (object.spec as JsonObject).paused = true;
  });
  expect(condition(cluster, "Progressing")).toMatchObject({ status: "Unknown", reason: "DeploymentPaused" });
  await cluster.change("deployments.apps", "web", setImage("example/app:2"));
  expect(sizes(cluster)).toEqual([["1", 1]]);
  await cluster.change("deployments.apps", "web", (object) => {
    delete (object.spec as JsonObject).paused;
  });
  expect(sizes(cluster)).toEqual([
    ["1", 0],
    ["2", 1],
  ]);
  expect(condition(cluster, "Progressing")).toMatchObject({
    status: "True",
    reason: "NewReplicaSetAvailable",
  });
});

test("with Recreate no new pod comes before the last old one has gone", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("web-*", { kind: "run", linger: 5_000 });
  await cluster.create(workload("Deployment", "web", { replicas: 2, strategy: { type: "Recreate" } }));
  const before = names(cluster.list("pods"));
  await cluster.change("deployments.apps", "web", setImage("example/app:2"));
  expect(names(cluster.list("pods"))).toEqual(before);
  await cluster.pass(5_000);
  expect(cluster.list("pods")).toHaveLength(2);
  expect(names(cluster.list("pods")).filter((name) => before.includes(name))).toEqual([]);
});

test("pods count as available only after minReadySeconds", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 1, minReadySeconds: 30 }));
  expect(cluster.get("deployments.apps", "web")?.status).toMatchObject({
    readyReplicas: 1,
    unavailableReplicas: 1,
  });
  await cluster.pass(30_000);
  expect(cluster.get("deployments.apps", "web")?.status).toMatchObject({ availableReplicas: 1 });
});

test("only as many old ReplicaSets stay as the history limit says", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 1, revisionHistoryLimit: 1 }));
  for (const image of ["example/app:2", "example/app:3", "example/app:4"]) {
    await cluster.change("deployments.apps", "web", setImage(image));
  }
  expect(sizes(cluster)).toEqual([
    ["3", 0],
    ["4", 1],
  ]);
});
