// Uses an API server the way programs on Kubernetes' JavaScript client do, and prints what it saw.
import {
  ApiException,
  ApiextensionsV1Api,
  AppsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  Watch,
} from "@kubernetes/client-node";

const namespace = "javascript-client";
const config = new KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(CoreV1Api);
const apps = config.makeApiClient(AppsV1Api);
const custom = config.makeApiClient(CustomObjectsApi);
const definitions = config.makeApiClient(ApiextensionsV1Api);
const leases = config.makeApiClient(CoordinationV1Api);
const objects = KubernetesObjectApi.makeApiClient(config);
const as = (strategy) => setHeaderOptions("Content-Type", strategy);
const path = `/api/v1/namespaces/${namespace}/configmaps`;

function say(...words) {
  process.stdout.write(
    `${words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" ")}\n`,
  );
}

async function refusal(promise) {
  try {
    await promise;
    return "not refused";
  } catch (error) {
    if (!(error instanceof ApiException)) throw error;
    const { reason, message } = typeof error.body === "string" ? JSON.parse(error.body) : error.body;
    return `${error.code} ${reason}: ${message}`;
  }
}

async function until(what, holds) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it does not come to pass: ${what}`);
}

async function objectsAreCreatedReadChangedAndDeleted() {
  const body = { metadata: { name: "a", labels: { l: "1" } }, data: { k: "1" } };
  const made = await core.createNamespacedConfigMap({ namespace, body });
  say("created", made.metadata.name, made.data);
  say("again", await refusal(core.createNamespacedConfigMap({ namespace, body })));
  made.data = { k: "2" };
  say("replaced", (await core.replaceNamespacedConfigMap({ namespace, name: "a", body: made })).data);
  say("stale", await refusal(core.replaceNamespacedConfigMap({ namespace, name: "a", body: made })));
  const patches = [
    [PatchStrategy.JsonPatch, [{ op: "add", path: "/data/j", value: "3" }]],
    [PatchStrategy.MergePatch, { data: { k: null } }],
    [PatchStrategy.StrategicMergePatch, { metadata: { annotations: { s: "4" } } }],
  ];
  for (const [strategy, patch] of patches) {
    const { data, metadata } = await core.patchNamespacedConfigMap(
      { namespace, name: "a", body: patch },
      as(strategy),
    );
    say("patched", data, metadata.annotations ?? {});
  }
  const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: "l=1" });
  say(
    "listed",
    items.map(({ metadata }) => metadata.name),
  );
  say("deleted", (await core.deleteNamespacedConfigMap({ namespace, name: "a" })).status);
  say("gone", await refusal(core.readNamespacedConfigMap({ namespace, name: "a" })));
}

async function listsComeInPages() {
  for (let index = 0; index < 5; index++) {
    const body = { metadata: { name: `s${index}`, labels: { paged: "yes" } }, stringData: { a: "b" } };
    await core.createNamespacedSecret({ namespace, body });
  }
  let token;
  do {
    const page = await core.listNamespacedSecret({
      namespace,
      labelSelector: "paged",
      limit: 2,
      _continue: token,
    });
    say(
      "page",
      page.items.map(({ metadata }) => metadata.name),
    );
    token = page.metadata._continue;
  } while (token);
}

async function serverSideApplyTellsOfConflicts() {
  const apply = (fieldManager, data, force) =>
    objects.patch(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied", namespace }, data },
      undefined,
      undefined,
      fieldManager,
      force,
      PatchStrategy.ServerSideApply,
    );
  say("applied", (await apply("one", { a: "1", b: "1" })).data);
  say("conflict", await refusal(apply("two", { a: "2" })));
  say("forced", (await apply("two", { a: "2" }, true)).data);
  const { data, metadata } = await apply("one", {});
  say(
    "given up",
    data,
    metadata.managedFields.map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
  );
}

async function aWatchSeesEveryChange() {
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "w" } } });
  await core.patchNamespacedConfigMap(
    { namespace, name: "w", body: { data: { a: "1" } } },
    as(PatchStrategy.MergePatch),
  );
  await core.deleteNamespacedConfigMap({ namespace, name: "w" });
  const seen = [];
  await new Promise((resolve) => {
    const query = { resourceVersion: metadata.resourceVersion, timeoutSeconds: 1 };
    new Watch(config).watch(
      path,
      query,
      (type, object) => seen.push([type, object.metadata.name, object.data ?? {}]),
      resolve,
    );
  });
  say("watched", seen);
}

async function anInformerFollows() {
  const labelSelector = "informed=yes";
  const informer = makeInformer(
    config,
    path,
    () => core.listNamespacedConfigMap({ namespace, labelSelector }),
    labelSelector,
  );
  const seen = [];
  for (const what of ["add", "update", "delete"])
    informer.on(what, ({ metadata }) => seen.push(`${what} ${metadata.name}`));
  informer.on("error", (error) => seen.push(`error ${error?.code}`));
  const body = (name) => ({ metadata: { name, labels: { informed: "yes" } } });
  await core.createNamespacedConfigMap({ namespace, body: body("i1") });
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: body("i2") });
  await until("two in the cache", () => informer.list(namespace).length === 2);
  await core.patchNamespacedConfigMap(
    { namespace, name: "i2", body: { data: { a: "1" } } },
    as(PatchStrategy.MergePatch),
  );
  await until("the update", () => seen.includes("update i2"));
  await core.deleteNamespacedConfigMap({ namespace, name: "i1" });
  await until("the deletion", () => seen.includes("delete i1"));
  await informer.stop();
  say("informed", seen);
}

async function aDeploymentRollsOut() {
  const labels = { app: "web" };
  const containers = [{ name: "main", image: "registry.k8s.io/pause:3.10.1" }];
  const spec = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
  await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: "web" }, spec } });
  const scaled = await apps.patchNamespacedDeploymentScale(
    { namespace, name: "web", body: { spec: { replicas: 2 } } },
    as(PatchStrategy.MergePatch),
  );
  say("scaled", scaled.spec);
  let status;
  await until("two available", async () => {
    ({ status } = await apps.readNamespacedDeploymentStatus({ namespace, name: "web" }));
    return status.availableReplicas === 2;
  });
  say(
    "available",
    status.availableReplicas,
    status.conditions.map(({ type, status: is }) => `${type}=${is}`).sort(),
  );
}

async function aLeaseKeepsItsMicroseconds() {
  const renewTime = new V1MicroTime("2020-01-01T00:00:00.123Z");
  const body = {
    metadata: { name: "lead" },
    spec: { holderIdentity: "one", leaseDurationSeconds: 15, renewTime },
  };
  const made = await leases.createNamespacedLease({ namespace, body });
  say("lease", made.spec.holderIdentity, made.spec.renewTime);
  made.spec.holderIdentity = "two";
  say(
    "taken",
    (await leases.replaceNamespacedLease({ namespace, name: "lead", body: made })).spec.holderIdentity,
  );
  say("late", await refusal(leases.replaceNamespacedLease({ namespace, name: "lead", body: made })));
}

async function customObjectsAreServed() {
  const [group, version, plural] = ["javascript.example.com", "v1", "things"];
  const name = `${plural}.${group}`;
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { size: { type: "integer", minimum: 0 } } },
      status: { type: "object", properties: { phase: { type: "string" } } },
    },
  };
  const served = {
    name: version,
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: schema },
  };
  await definitions.createCustomResourceDefinition({
    body: {
      metadata: { name },
      spec: { group, scope: "Namespaced", names: { plural, kind: "Thing" }, versions: [served] },
    },
  });
  await until("established", async () => {
    const { status } = await definitions.readCustomResourceDefinition({ name });
    return status?.conditions?.some(
      (condition) => condition.type === "Established" && condition.status === "True",
    );
  });
  const at = { group, version, plural, namespace };
  const thing = {
    apiVersion: `${group}/${version}`,
    kind: "Thing",
    metadata: { name: "t" },
    spec: { size: 1, more: true },
  };
  // Established, and yet not served for a moment: the real server takes a while.
  await until(
    "served",
    async () => !(await refusal(custom.listNamespacedCustomObject(at))).startsWith("404"),
  );
  say("custom", (await custom.createNamespacedCustomObject({ ...at, body: thing })).spec);
  const patched = await custom.patchNamespacedCustomObjectStatus(
    { ...at, name: "t", body: { status: { phase: "Ready" } } },
    as(PatchStrategy.MergePatch),
  );
  say("status", patched.status, patched.metadata.generation);
  const small = { ...thing, metadata: { name: "u" }, spec: { size: -1 } };
  say("too small", await refusal(custom.createNamespacedCustomObject({ ...at, body: small })));
  const read = await objects.read({
    apiVersion: thing.apiVersion,
    kind: "Thing",
    metadata: { name: "t", namespace },
  });
  say("by its kind", read.spec);
  await definitions.deleteCustomResourceDefinition({ name });
}

await core.createNamespace({ body: { metadata: { name: namespace } } });
try {
  await objectsAreCreatedReadChangedAndDeleted();
  await listsComeInPages();
  await serverSideApplyTellsOfConflicts();
  await aWatchSeesEveryChange();
  await anInformerFollows();
  await aDeploymentRollsOut();
  await aLeaseKeepsItsMicroseconds();
  await customObjectsAreServed();
} finally {
  await core.deleteNamespace({ name: namespace });
  await until("the namespace is gone", async () =>
    (await refusal(core.readNamespace({ name: namespace }))).startsWith("404"),
  );
}
