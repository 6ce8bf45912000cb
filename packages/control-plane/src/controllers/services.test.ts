import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { objectsAt, valueAt } from "../json-fields.ts";
import { names, startCluster, type TestCluster, workload } from "./cluster.fixture.ts";

const service = (spec: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec,
});
const slices = (cluster: TestCluster) =>
  cluster
    .list("endpointslices.discovery.k8s.io")
    .filter(({ metadata }) => metadata.namespace === "default" && metadata.name !== "kubernetes");

test("a service's slice has its ready pods, by the port they give its name to", async () => {
  await using cluster = await startCluster();
  const spec = {
    containers: [{ name: "main", image: "example/app:1", ports: [{ name: "http", containerPort: 8080 }] }],
  };
  await cluster.create(
    service({ selector: { app: "web" }, ports: [{ name: "web", port: 80, targetPort: "http" }] }),
  );
  expect(slices(cluster)).toMatchObject([{ endpoints: null, ports: null }]);
  await cluster.create(workload("ReplicaSet", "web", { replicas: 2 }, { spec }));
  const [slice] = slices(cluster);
  expect(slice).toMatchObject({
    addressType: "IPv4",
    metadata: {
      labels: {
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [{ kind: "Service", name: "web", controller: true }],
    },
    ports: [{ name: "web", port: 8080, protocol: "TCP" }],
  });
  const endpoints = slice?.endpoints as JsonObject[];
  expect(endpoints.map(({ conditions }) => conditions)).toEqual(
    [1, 2].map(() => ({ ready: true, serving: true, terminating: false })),
  );
  expect(objectsAt(objectsAt(cluster.get("endpoints", "web"), "subsets")[0], "addresses")).toHaveLength(2);
  const [sick] = names(cluster.list("pods"));
  cluster.plane.node.on(sick as string, "never-ready");
  await cluster.pass(0);
  const after = slices(cluster)[0]?.endpoints as JsonObject[];
  expect(after.filter((endpoint) => valueAt(endpoint, "conditions", "ready") === true)).toHaveLength(1);
  expect(after).toHaveLength(2);
  await cluster.delete("services", "web");
  expect(slices(cluster)).toEqual([]);
  expect(cluster.get("endpoints", "web")).toBeUndefined();
});

test("a pod that is stopping stays listed, as terminating", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("web-*", { kind: "run", linger: "grace" });
  await cluster.create(
    service({ selector: { app: "web" }, ports: [{ port: 80 }] }),
    workload("ReplicaSet", "web", { replicas: 1 }),
  );
  await cluster.delete("replicasets.apps", "web");
  expect(slices(cluster)[0]?.endpoints).toMatchObject([
    { conditions: { ready: false, serving: true, terminating: true } },
  ]);
  await cluster.pass(30_000);
  expect(slices(cluster)[0]?.endpoints).toBeNull();
});

test("Endpoints written by hand are mirrored", async () => {
  await using cluster = await startCluster();
  await cluster.create(service({ ports: [{ port: 80 }] }), {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "web" },
    subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80, protocol: "TCP" }] }],
  });
  expect(slices(cluster)).toMatchObject([
    { endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: true } }], ports: [{ port: 80 }] },
  ]);
});

test("a disruption budget counts what it may give", async () => {
  await using cluster = await startCluster();
  const budget = (name: string, spec: JsonObject): JsonObject => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name },
    spec: { selector: { matchLabels: { app: "web" } }, ...spec },
  });
  await cluster.create(
    workload("Deployment", "web", { replicas: 4 }),
    budget("at-least", { minAvailable: 3 }),
    budget("half", { maxUnavailable: "50%" }),
  );
  const status = (name: string) => cluster.get("poddisruptionbudgets.policy", name)?.status;
  expect(status("at-least")).toMatchObject({
    expectedPods: 4,
    currentHealthy: 4,
    desiredHealthy: 3,
    disruptionsAllowed: 1,
  });
  expect(status("half")).toMatchObject({ expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 2 });
  for (const name of names(cluster.list("pods")).slice(0, 2)) cluster.plane.node.on(name, "never-ready");
  await cluster.pass(0);
  expect(status("at-least")).toMatchObject({
    disruptionsAllowed: 0,
    conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }],
  });
});

test("an autoscaler keeps its target within bounds, and says that it has no figures", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 1 }), {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      minReplicas: 2,
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    },
  });
  const wanted = () => valueAt(cluster.get("deployments.apps", "web"), "spec", "replicas");
  await cluster.pass(14_000);
  expect(wanted()).toBe(1);
  await cluster.pass(1_000);
  expect(wanted()).toBe(2);
  expect(cluster.events("HorizontalPodAutoscaler")[0]).toBe(
    "SuccessfulRescale: New size: 2; reason: Current number of replicas below Spec.MinReplicas",
  );
  await cluster.change("deployments.apps", "web", (object) => {
    (object.spec as JsonObject).replicas = 9;
  });
  await cluster.pass(15_000);
  expect(wanted()).toBe(3);
  await cluster.pass(15_000);
  const conditions = valueAt(
    cluster.get("horizontalpodautoscalers.autoscaling", "web"),
    "status",
    "conditions",
  ) as JsonObject[];
  expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ["AbleToScale", "True", "SucceededGetScale"],
    ["ScalingActive", "False", "FailedGetResourceMetric"],
  ]);
  await cluster.change("deployments.apps", "web", (object) => {
    (object.spec as JsonObject).replicas = 0;
  });
  await cluster.pass(15_000);
  expect(wanted()).toBe(0);
});

test("an autoscaler reports each metric that it cannot get", async () => {
  await using cluster = await startCluster();
  const target = { type: "AverageValue", averageValue: "10" };
  await cluster.create(workload("Deployment", "web", { replicas: 1 }), {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      metrics: [
        { type: "Pods", pods: { metric: { name: "rps" }, target } },
        { type: "External", external: { metric: { name: "queue" }, target } },
      ],
    },
  });
  await cluster.pass(15_000);
  const custom =
    "unable to get metric rps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";
  expect(cluster.events("HorizontalPodAutoscaler")).toEqual([
    `FailedGetPodsMetric: ${custom}`,
    "FailedGetExternalMetric: unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)",
    `FailedComputeMetricsReplicas: invalid metrics (2 invalid out of 2), first error is: failed to get pods metric value: ${custom}`,
  ]);
});

test("claims are bound: to a volume that fits, to one made for them, or when a pod first needs them", async () => {
  await using cluster = await startCluster();
  const claim = (name: string, spec: JsonObject = {}): JsonObject => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  });
  await cluster.create(
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "by-hand" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "5Gi" },
        storageClassName: "manual",
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path: "/data" },
      },
    },
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "lazy" },
      provisioner: "example.com/disk",
      reclaimPolicy: "Delete",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    claim("fits", { storageClassName: "manual" }),
    claim("made"),
    claim("lazy", { storageClassName: "lazy" }),
  );
  const phase = (name: string) => valueAt(cluster.get("persistentvolumeclaims", name), "status", "phase");
  expect(valueAt(cluster.get("persistentvolumeclaims", "fits"), "spec", "volumeName")).toBe("by-hand");
  expect([phase("fits"), phase("made"), phase("lazy")]).toEqual(["Bound", "Bound", "Pending"]);
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "lazy" } }];
  await cluster.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "user" },
    spec: { containers: [{ name: "c", image: "example/app:1" }], volumes },
  });
  expect(phase("lazy")).toBe("Bound");
  expect(valueAt(cluster.get("pods", "user"), "status", "phase")).toBe("Running");
  await cluster.delete("persistentvolumeclaims", "lazy");
  expect(cluster.get("persistentvolumeclaims", "lazy")).toBeDefined();
  await cluster.delete("pods", "user");
  await cluster.delete("persistentvolumeclaims", "made");
  await cluster.delete("persistentvolumeclaims", "fits");
  expect(cluster.list("persistentvolumeclaims")).toEqual([]);
  expect(
    cluster
      .list("persistentvolumes")
      .map((volume) => [volume.metadata.name, valueAt(volume, "status", "phase")]),
  ).toEqual([["by-hand", "Released"]]);
});

test("a quota counts what its namespace uses", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { pods: "5", "requests.cpu": "2", "count/configmaps": "9" } },
    },
    workload(
      "ReplicaSet",
      "web",
      { replicas: 2 },
      {
        spec: {
          containers: [{ name: "c", image: "example/app:1", resources: { requests: { cpu: "250m" } } }],
        },
      },
    ),
  );
  expect(cluster.get("resourcequotas", "q")?.status).toMatchObject({
    hard: { pods: "5" },
    used: { pods: "2", "requests.cpu": "500m", "count/configmaps": "1" },
  });
});

test("a quota counts the devices that a claim asks for: one, unless it says how many", async () => {
  await using cluster = await startCluster();
  const request = (name: string, count: JsonObject = {}): JsonObject => ({
    name,
    exactly: { deviceClassName: "gold", ...count },
  });
  const devices = "gold.deviceclass.resource.k8s.io/devices";
  await cluster.create(
    {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { [devices]: "5" } },
    },
    {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name: "c" },
      spec: { devices: { requests: [request("one"), request("three", { count: 3 })] } },
    },
  );
  expect(valueAt(cluster.get("resourcequotas", "q"), "status", "used")).toEqual({ [devices]: "4" });
});

test("a claim counts for the class that it wants and for the one that its volume has", async () => {
  await using cluster = await startCluster();
  const quota = (name: string): JsonObject => ({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name },
    spec: {
      hard: { persistentvolumeclaims: "1" },
      scopeSelector: {
        matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: [name] }],
      },
    },
  });
  const used = () =>
    ["gold", "silver"].map((name) =>
      valueAt(cluster.get("resourcequotas", name), "status", "used", "persistentvolumeclaims"),
    );
  const volume = (name: string, volumeAttributesClassName: string): JsonObject => ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      storageClassName: "",
      volumeAttributesClassName,
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      csi: { driver: "example.com", volumeHandle: name },
    },
  });
  await cluster.create(quota("gold"), quota("silver"), volume("a", "silver"), volume("b", "gold"), {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "c" },
    spec: {
      storageClassName: "",
      volumeAttributesClassName: "gold",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  });
  expect(valueAt(cluster.get("persistentvolumeclaims", "c"), "spec", "volumeName")).toBe("b");
  expect(used()).toEqual(["1", "0"]);
  await cluster.change("persistentvolumeclaims", "c", (claim) => {
    (claim.spec as JsonObject).volumeAttributesClassName = "silver";
  });
  expect(used()).toEqual(["1", "1"]);
  await cluster.changeStatus("persistentvolumeclaims", "c", (claim) => {
    (claim.status as JsonObject).currentVolumeAttributesClassName = "silver";
  });
  expect(used()).toEqual(["0", "1"]);
});

test("a ClusterRole made of others follows them", async () => {
  await using cluster = await startCluster();
  const rules = [{ apiGroups: ["example.com"], resources: ["widgets"], verbs: ["get"] }];
  const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
  await cluster.create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "widgets", labels },
    rules,
  });
  expect(cluster.get("clusterroles.rbac.authorization.k8s.io", "view")?.rules).toContainEqual(rules[0]);
});

test("programs in pods find the API server by its service", async () => {
  await using cluster = await startCluster();
  expect(cluster.get("services", "kubernetes")).toMatchObject({
    metadata: { labels: { component: "apiserver", provider: "kubernetes" } },
    spec: { ports: [{ name: "https", port: 443, targetPort: 6443 }] },
  });
  expect(cluster.get("endpointslices.discovery.k8s.io", "kubernetes")).toBeDefined();
});

test("an autoscaler scales whatever can be scaled, and what a custom object owns goes with its definition", async () => {
  await using cluster = await startCluster();
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await cluster.create({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "fleets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "fleets", singular: "fleet", kind: "Fleet", listKind: "FleetList" },
      conversion: { strategy: "None" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
        },
      ],
    },
  });
  await cluster.create(
    { apiVersion: "example.com/v1", kind: "Fleet", metadata: { name: "ships" }, spec: { replicas: 9 } },
    {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "ships" },
      spec: {
        minReplicas: 1,
        maxReplicas: 4,
        scaleTargetRef: { apiVersion: "example.com/v1", kind: "Fleet", name: "ships" },
      },
    },
  );
  await cluster.pass(15_000);
  const fleet = cluster.get("fleets.example.com", "ships");
  expect(valueAt(fleet, "spec", "replicas")).toBe(4);
  const owner = {
    apiVersion: "example.com/v1",
    kind: "Fleet",
    name: "ships",
    uid: fleet?.metadata.uid ?? "",
  };
  await cluster.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "log", ownerReferences: [owner] },
  });
  expect(cluster.get("configmaps", "log")).toBeDefined();
  await cluster.delete("customresourcedefinitions.apiextensions.k8s.io", "fleets.example.com");
  expect(cluster.get("configmaps", "log")).toBeUndefined();
});

test("a quota's status says what a write takes of it at once, and what is left once it is deleted", async () => {
  await using cluster = await startCluster();
  await cluster.create({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "few" },
    spec: { hard: { secrets: "2" } },
  });
  const secret = (name: string): JsonObject => ({ apiVersion: "v1", kind: "Secret", metadata: { name } });
  const used = () => valueAt(cluster.get("resourcequotas", "few"), "status", "used");
  const transport = cluster.plane.connect();
  const post = (name: string, query = "") =>
    transport.request({
      method: "POST",
      path: `/api/v1/namespaces/default/secrets${query}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(secret(name)),
    });
  expect((await post("one")).status).toBe(201);
  expect(used()).toEqual({ secrets: "1" });
  expect((await post("dry", "?dryRun=All")).status).toBe(201);
  expect(used()).toEqual({ secrets: "1" });
  const answers = await Promise.all(["two", "three", "four"].map((name) => post(name)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 403, 403]);
  await cluster.delete("secrets", "one");
  expect(used()).toEqual({ secrets: "1" });
});

test("a pod without the port that a service names is in a slice of its own, and not in the Endpoints", async () => {
  await using cluster = await startCluster();
  const pod = (name: string, ports: JsonObject[]): JsonObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: "web" } },
    spec: { containers: [{ name: "c", image: "app", ports }] },
  });
  await cluster.create(pod("with", [{ name: "http", containerPort: 8080 }]), pod("without", []), {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] },
  });
  const targets = (list: JsonObject[]) => list.map((one) => valueAt(one, "targetRef", "name"));
  const subsets = cluster.get("endpoints", "web")?.subsets as JsonObject[];
  expect(subsets.map((subset) => targets(subset.addresses as JsonObject[]))).toEqual([["with"]]);
  const slices = cluster
    .list("endpointslices.discovery.k8s.io")
    .filter(({ metadata }) => metadata.name.startsWith("web-"));
  expect(slices.map((slice) => [targets(slice.endpoints as JsonObject[]), slice.ports])).toEqual(
    expect.arrayContaining([
      [["with"], [{ name: "", port: 8080, protocol: "TCP" }]],
      [["without"], null],
    ]),
  );
});

test("Endpoints that a user wrote are mirrored with their metadata, and deleted with their service", async () => {
  await using cluster = await startCluster();
  const written = (name: string): JsonObject => ({
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name, labels: { team: "blue" }, annotations: { note: "by hand" } },
    subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 9 }] }],
  });
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "far" },
    spec: { ports: [{ port: 80 }] },
  };
  await cluster.create(service, written("far"), written("alone"));
  const mirrors = () =>
    cluster
      .list("endpointslices.discovery.k8s.io")
      .filter(({ metadata }) => metadata.name.startsWith("far-"))
      .map(({ metadata }) => metadata);
  expect(mirrors()).toMatchObject([{ labels: { team: "blue" }, annotations: { note: "by hand" } }]);
  await cluster.change("endpoints", "far", ({ metadata }) => {
    (metadata as JsonObject).labels = { team: "red" };
  });
  expect(mirrors()).toMatchObject([{ labels: { team: "red" } }]);
  await cluster.delete("services", "far");
  expect(cluster.get("endpoints", "far")).toBeUndefined();
  expect(mirrors()).toEqual([]);
  expect(cluster.get("endpoints", "alone")).toBeDefined();
});
