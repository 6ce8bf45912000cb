import {
  type ApiError,
  Client,
  isBadRequest,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnsupportedMediaType,
  metadataOnly,
} from "@windlass/client";
import { defineResource } from "@windlass/runtime";
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Pod,
  RoleBinding,
  Secret,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

const Widget = defineResource({
  group: "verbs.windlass.dev",
  version: "v1",
  kind: "Widget",
  shortNames: ["wd"],
  categories: ["all"],
  spec: z.object({ size: z.int32().min(0).max(10).default(3), tags: z.array(z.string()).max(5).optional() }),
  status: z.object({ size: z.int32().optional(), selector: z.string().optional() }),
  scale: {
    specReplicasPath: ".spec.size",
    statusReplicasPath: ".status.size",
    labelSelectorPath: ".status.selector",
  },
});

let cluster: TestCluster;
let client: Client;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  client = cluster.client;
  await cluster.install(Widget);
  namespace = await cluster.createNamespace();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

const containers = (...names: string[]) => names.map((name) => ({ name, image: "nginx:1.25" }));

function podNamed(name: string) {
  return { metadata: { namespace, name }, spec: { containers: containers("a") } };
}

function deploymentNamed(name: string) {
  const labels = { app: name };
  return {
    metadata: { namespace, name },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: containers("a") } },
    },
  };
}

/** What a list has of its objects' names, and nothing that the cluster adds by itself. */
async function names(kind: typeof ConfigMap, labelSelector: string): Promise<string[]> {
  const { items } = await client.list(kind, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.name);
}

test("a merge patch sets, and removes with null", async () => {
  const key = { namespace, name: "merge" };
  await client.create(ConfigMap, { metadata: key, data: { a: "1", b: "1" } });
  const after = await client.patch(ConfigMap, key, { type: "merge", patch: { data: { a: null, c: "2" } } });
  expect(after.data).toEqual({ b: "1", c: "2" });
});

test("a JSON patch does all its steps or none", async () => {
  const key = { namespace, name: "json" };
  await client.create(ConfigMap, { metadata: key, data: { a: "1" } });
  const after = await client.patch(ConfigMap, key, {
    type: "json",
    patch: [
      { op: "test", path: "/data/a", value: "1" },
      { op: "add", path: "/data/b", value: "2" },
      { op: "move", from: "/data/a", path: "/data/c" },
    ],
  });
  expect(after.data).toEqual({ b: "2", c: "1" });
  const refused = client.patch(ConfigMap, key, {
    type: "json",
    patch: [
      { op: "remove", path: "/data/b" },
      { op: "test", path: "/data/c", value: "another" },
    ],
  });
  await expect(refused).rejects.toSatisfy(isInvalid);
  expect((await client.get(ConfigMap, key)).data).toEqual({ b: "2", c: "1" });
});

test("a strategic merge patch merges lists by their keys, which custom kinds do not take", async () => {
  const key = { namespace, name: "strategic" };
  await client.create(Deployment, deploymentNamed("strategic"));
  const after = await client.patch(Deployment, key, {
    type: "strategic",
    patch: { spec: { template: { spec: { containers: containers("b") } } } },
  });
  expect(after.spec?.template.spec?.containers.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
  await client.create(Widget, { metadata: key, spec: {} });
  const refused = client.patch(Widget, key, { type: "strategic", patch: { spec: { size: 1 } } });
  await expect(refused).rejects.toSatisfy(isUnsupportedMediaType);
});

test("an update without a version replaces, and one with an old version is refused", async () => {
  const key = { namespace, name: "update" };
  const created = await client.create(ConfigMap, { metadata: key, data: { a: "1" } });
  const replaced = await client.update(ConfigMap, { metadata: key, data: { b: "1" } });
  expect(replaced.data).toEqual({ b: "1" });
  expect(replaced.metadata.uid).toBe(created.metadata.uid);
  await expect(client.update(ConfigMap, created)).rejects.toSatisfy(isConflict);
  const nobody = client.update(ConfigMap, { metadata: { namespace, name: "nobody" } });
  await expect(nobody).rejects.toSatisfy(isNotFound);
});

test("spec and status of a custom kind are written apart, and only the spec counts generations", async () => {
  const key = { namespace, name: "apart" };
  const created = await client.create(Widget, { metadata: key, spec: {}, status: { size: 9 } });
  expect(created).toMatchObject({ spec: { size: 3 }, metadata: { generation: 1 } });
  expect(created.status).toBeUndefined();
  const status = await client.patch(
    Widget,
    key,
    { type: "merge", patch: { spec: { size: 7 }, status: { size: 3, selector: "app=x" } } },
    { subresource: "status" },
  );
  expect(status).toMatchObject({ spec: { size: 3 }, status: { size: 3 }, metadata: { generation: 1 } });
  const spec = await client.patch(Widget, key, { type: "merge", patch: { spec: { size: 4 }, status: null } });
  expect(spec).toMatchObject({ spec: { size: 4 }, status: { size: 3 }, metadata: { generation: 2 } });
});

test("status can be applied, and its fields have their own owner", async () => {
  const key = { namespace, name: "applied" };
  await client.create(Widget, { metadata: key, spec: {} });
  const applied = await client.apply(
    Widget,
    { metadata: key, status: { size: 1 } },
    {
      subresource: "status",
      fieldManager: "status-writer",
    },
  );
  const entry = applied.metadata.managedFields?.find(({ manager }) => manager === "status-writer");
  expect(entry).toMatchObject({
    operation: "Apply",
    subresource: "status",
    fieldsV1: { "f:status": { "f:size": {} } },
  });
});

test("scale reads and writes the replicas of built-in and custom kinds alike", async () => {
  const key = { namespace, name: "scaled" };
  await client.create(Deployment, deploymentNamed("scaled"));
  await client.create(Widget, { metadata: key, spec: {} });
  for (const kind of [Deployment, Widget]) {
    const scale = client.subresource<{ kind: string; spec: { replicas?: number } }>(kind, key, "scale");
    expect(await scale.get()).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1", metadata: key });
    const after = await scale.patch({ type: "merge", patch: { spec: { replicas: 5 } } });
    expect(after.spec).toEqual({ replicas: 5 });
  }
  expect((await client.get(Deployment, key)).spec?.replicas).toBe(5);
  expect((await client.get(Widget, key)).spec.size).toBe(5);
  const tooMany = client
    .subresource(Widget, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas: 11 } } });
  await expect(tooMany).rejects.toSatisfy(isInvalid);
  await client.delete(Deployment, key);
});

test("eviction deletes a pod, and a subresource that a kind has not is not found", async () => {
  const key = { namespace, name: "evicted" };
  await client.create(Pod, podNamed("evicted"));
  await client
    .subresource(Pod, key, "eviction")
    .create({ apiVersion: "policy/v1", kind: "Eviction", metadata: key });
  // A bare server has no scheduler, and a pod without a node is deleted at once.
  await waitForDeletion(client, Pod, key);
  await expect(client.subresource(ConfigMap, key, "scale").get()).rejects.toSatisfy(isNotFound);
});

test("a service account gets a token for those who ask", async () => {
  const key = { namespace, name: "token-holder" };
  await client.create(ServiceAccount, { metadata: key });
  const answer = await client
    .subresource<{ status: { token: string; expirationTimestamp: string } }>(ServiceAccount, key, "token")
    .create({
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 3600 },
    });
  expect(answer.status.token.split(".")).toHaveLength(3);
  expect(Date.parse(answer.status.expirationTimestamp)).toBeGreaterThan(Date.now());
});

test("a dry run of every verb answers as if, and changes nothing", async () => {
  const key = { namespace, name: "dry" };
  const dryRun = true;
  const before = await client.create(ConfigMap, { metadata: key, data: { a: "1" } });
  const patched = await client.patch(
    ConfigMap,
    key,
    { type: "merge", patch: { data: { a: "2" } } },
    { dryRun },
  );
  const updated = await client.update(ConfigMap, { metadata: key, data: { a: "3" } }, { dryRun });
  const applied = await client.apply(ConfigMap, { metadata: key, data: { b: "4" } }, { dryRun });
  expect([patched.data, updated.data, applied.data]).toEqual([{ a: "2" }, { a: "3" }, { a: "1", b: "4" }]);
  await client.delete(ConfigMap, key, { dryRun });
  expect(await client.get(ConfigMap, key)).toEqual(before);
});

test("unknown fields are refused, warned about or ignored, as the caller asks", async () => {
  const warnings: string[] = [];
  const careful = new Client({ transport: cluster.transport(), onWarning: (text) => warnings.push(text) });
  const withTypo = (name: string) => ({ metadata: { namespace, name }, spec: { size: 1, sise: 2 } });
  const strict = careful.create(Widget, withTypo("strict"), { fieldValidation: "Strict" });
  await expect(strict).rejects.toSatisfy(isBadRequest);
  await expect(strict).rejects.toThrow('strict decoding error: unknown field "spec.sise"');
  const warned = await careful.create(Widget, withTypo("warned"), { fieldValidation: "Warn" });
  expect(warned.spec).toEqual({ size: 1 });
  expect(warnings).toEqual(['unknown field "spec.sise"']);
  await careful.create(Widget, withTypo("ignored"), { fieldValidation: "Ignore" });
  expect(warnings).toHaveLength(1);
});

test("what the schema forbids is refused field by field, with the value and the rule", async () => {
  const refused = client.create(Widget, {
    metadata: { namespace, name: "wrong" },
    spec: { size: 11, tags: ["a", "b", "c", "d", "e", "f"] },
  });
  await expect(refused).rejects.toSatisfy(isInvalid);
  const { status } = (await refused.catch((error: unknown) => error)) as ApiError;
  const fields = status.details?.causes?.map(({ field, reason }) => `${field} ${reason}`).toSorted();
  expect(fields).toEqual(["spec.size FieldValueInvalid", "spec.tags FieldValueTooMany"]);
});

test("a collection is deleted as far as its selector reaches", async () => {
  for (const [name, tier] of [
    ["c-1", "old"],
    ["c-2", "old"],
    ["c-3", "new"],
  ] as const)
    await client.create(ConfigMap, { metadata: { namespace, name, labels: { group: "c", tier } } });
  await client.deleteCollection(ConfigMap, { namespace, labelSelector: "group=c,tier=old" });
  expect(await names(ConfigMap, "group=c")).toEqual(["c-3"]);
});

test("a delete with preconditions hits that object in that state, or nothing", async () => {
  const key = { namespace, name: "conditional" };
  const { metadata } = await client.create(ConfigMap, { metadata: key });
  const another = client.delete(ConfigMap, key, { preconditions: { uid: "0000-another" } });
  await expect(another).rejects.toSatisfy(isConflict);
  await client.patch(ConfigMap, key, { type: "merge", patch: { data: { a: "1" } } });
  const { resourceVersion = "", uid = "" } = metadata;
  await expect(client.delete(ConfigMap, key, { preconditions: { resourceVersion } })).rejects.toSatisfy(
    isConflict,
  );
  await client.delete(ConfigMap, key, { preconditions: { uid } });
  await expect(client.get(ConfigMap, key)).rejects.toSatisfy(isNotFound);
});

test("an owner deleted in the foreground waits for its children, and an orphaning one lets them be", async () => {
  const owned = async (name: string) => {
    const { metadata } = await client.create(ConfigMap, { metadata: { namespace, name } });
    const reference = {
      apiVersion: "v1",
      kind: "ConfigMap",
      name,
      uid: metadata.uid ?? "",
      blockOwnerDeletion: true,
    };
    const child = { namespace, name: `${name}-child` };
    await client.create(Secret, { metadata: { ...child, ownerReferences: [reference] } });
    return { owner: { namespace, name }, child };
  };
  const foreground = await owned("foreground");
  await client.delete(ConfigMap, foreground.owner, { propagationPolicy: "Foreground" });
  const orphan = await owned("orphan");
  await client.delete(ConfigMap, orphan.owner, { propagationPolicy: "Orphan" });
  if (!cluster.hasControllers) {
    // Without a garbage collector the server's own part is to hold the owner for it.
    const held = await client.get(ConfigMap, foreground.owner);
    expect(held.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect((await client.get(ConfigMap, orphan.owner)).metadata.finalizers).toEqual(["orphan"]);
    return;
  }
  await waitForDeletion(client, ConfigMap, foreground.owner);
  await expect(client.get(Secret, foreground.child)).rejects.toSatisfy(isNotFound);
  await waitForDeletion(client, ConfigMap, orphan.owner);
  expect((await client.get(Secret, orphan.child)).metadata.ownerReferences).toBeUndefined();
});

test("metadata alone is served on request", async () => {
  const key = { namespace, name: "metadata" };
  await client.create(ConfigMap, {
    metadata: { ...key, labels: { only: "metadata" } },
    data: { big: "value" },
  });
  const partial = await client.get(metadataOnly(ConfigMap), key);
  expect(partial).toMatchObject({
    kind: "PartialObjectMetadata",
    metadata: { labels: { only: "metadata" } },
  });
  expect(partial).not.toHaveProperty("data");
});

test("discovery knows built-in and custom kinds, their names, verbs and subresources", async () => {
  const resources = await client.discovery.resources();
  const find = (group: string, kind: string) =>
    resources.find((one) => one.group === group && one.kind === kind);
  expect(find("apps", "Deployment")).toMatchObject({
    plural: "deployments",
    shortNames: ["deploy"],
    scope: "Namespaced",
  });
  const widget = find("verbs.windlass.dev", "Widget");
  expect(widget).toMatchObject({
    version: "v1",
    plural: "widgets",
    singular: "widget",
    shortNames: ["wd"],
    categories: ["all"],
    scope: "Namespaced",
  });
  expect(widget?.subresources.map(({ name }) => name).toSorted()).toEqual(["scale", "status"]);
  expect(widget?.verbs.toSorted()).toEqual([
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
  ]);
});

test("a user without rights gets an error that names the missing one, and succeeds once it is granted", async () => {
  const someone = await cluster.clientFor(namespace, "someone");
  const list = () => someone.list(ConfigMap, { namespace });
  await expect(list()).rejects.toSatisfy(isForbidden);
  await expect(list()).rejects.toThrow(
    `configmaps is forbidden: User "system:serviceaccount:${namespace}:someone" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
  );
  const role = `windlass-${namespace}`;
  await client.create(ClusterRole, {
    metadata: { name: role },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }],
  });
  await client.create(RoleBinding, {
    metadata: { namespace, name: role },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", name: "someone", namespace }],
  });
  try {
    const outcome = () => list().then(() => "allowed", String);
    await expect.poll(outcome, { timeout: 10_000 }).toBe("allowed");
    await expect(someone.get(ConfigMap, { namespace, name: "any" })).rejects.toSatisfy(isForbidden);
    await expect(someone.list(ConfigMap)).rejects.toThrow("at the cluster scope");
  } finally {
    await client.delete(ClusterRole, { name: role });
  }
});

test("a deleted definition takes its objects along, and its kind is no longer served", async () => {
  const Gone = defineResource({
    group: "verbs.windlass.dev",
    version: "v1",
    kind: "Gone",
    spec: z.object({}),
  });
  await cluster.install(Gone);
  await client.create(Gone, { metadata: { namespace, name: "last" }, spec: {} });
  await cluster.uninstall(Gone);
  // A real server serves the kind for a moment after the definition was deleted.
  const served = () =>
    client.list(Gone, { namespace }).then(
      () => true,
      (error: unknown) => !isNotFound(error),
    );
  await expect.poll(served, { timeout: 10_000 }).toBe(false);
  await cluster.install(Gone);
  const fresh = await waitFor(client, Gone, { namespace, name: "last" }, () => true, {
    timeout: 300,
  }).catch(() => "gone");
  expect(fresh).toBe("gone");
});
