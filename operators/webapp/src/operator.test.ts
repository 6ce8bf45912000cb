import { ApiError, Client } from "@windlass/client";
import { manager, silentLogger } from "@windlass/runtime";
import {
  Deployment,
  Event,
  HorizontalPodAutoscaler,
  Ingress,
  Pod,
  ResourceQuota,
  Service,
} from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badManifests } from "../scripts/bad-manifests.ts";
import { Policy, WebApp, webapp, webhooks } from "./index.ts";

let cluster: TestCluster;
let namespace: string;
const warnings: string[] = [];
const stop = new AbortController();
let running: Promise<unknown>;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  namespace = await cluster.createNamespace("webapp");
  const server = webhooks(Policy.parse({ MAX_REPLICAS: "50" }), {
    port: false,
    install: true,
    service: { namespace: "webapp-system" },
  });
  await cluster.install({ crd: () => WebApp.crd({ conversion: server.conversion() }) });
  cluster.controlPlane?.bindService("webapp-system", "webapp-operator-webhook", 443, server.handle);
  const operator = manager({
    client: new Client({ transport: cluster.transport(), fieldManager: "webapp-operator" }),
    leaderElection: { name: "webapp-operator", namespace },
    health: false,
    metrics: false,
    log: silentLogger,
  });
  running = operator.add(webapp).add(server).run({ signal: stop.signal });
  await waitFor(
    cluster.client,
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      kind: "ValidatingWebhookConfiguration",
      plural: "validatingwebhookconfigurations",
      scope: "Cluster",
    },
    { name: "webapp-operator" },
    () => true,
  );
});
afterAll(async () => {
  stop.abort();
  await running;
  await cluster.close();
});

const spec = { image: "nginx:1.25", replicas: 2 };

async function createReady(name: string, more: object = {}) {
  const key = { namespace, name };
  await cluster.client.create(WebApp, { metadata: key, spec: { ...spec, ...more } });
  await waitForCondition(cluster.client, WebApp, key, "Ready");
  return key;
}

function patch(key: { namespace: string; name: string }, change: object) {
  return cluster.client.patch(WebApp, key, { type: "merge", patch: { spec: change } });
}

/** The phases that an app goes through, from now until it is in the last one. */
async function phasesUntil(name: string, last: string): Promise<readonly string[]> {
  const seen: string[] = [];
  await waitFor(cluster.client, WebApp, { namespace, name }, ({ status }) => {
    if (status?.phase && seen.at(-1) !== status.phase) seen.push(status.phase);
    return seen.at(-1) === last;
  });
  return seen;
}

test("a WebApp walks from Created to Ready, with an event for each step", async () => {
  const key = { namespace, name: "nginx-app" };
  const walk = phasesUntil(key.name, "Ready");
  const made = await cluster.client.create(WebApp, {
    metadata: key,
    spec: { image: "nginx:1.25", replicas: 3 },
  });
  expect(await walk).toEqual(["Created", "Reconciling", "WaitingForPods", "Ready"]);
  const { status } = await cluster.client.get(WebApp, key);
  expect(status).toMatchObject({
    replicas: 3,
    availableReplicas: 3,
    observedGeneration: made.metadata.generation,
    url: `http://nginx-app.${namespace}.svc/`,
  });
  const conditions = status?.conditions?.map((one) => [one.type, one.status, one.reason]);
  expect(conditions).toEqual([
    ["Ready", "True", "Ready"],
    ["Progressing", "False", "Ready"],
    ["Degraded", "False", "AsExpected"],
  ]);
  const { items } = await cluster.client.list(Event, { namespace });
  const told = items.filter(({ regarding }) => regarding?.uid === made.metadata.uid);
  expect(told.map(({ reason }) => reason)).toEqual(expect.arrayContaining(await walk));
  expect(made.metadata.labels).toMatchObject({ "app.kubernetes.io/name": "nginx-app" });
});

test("the container gets the port, the environment and the resources of the spec", async () => {
  const env = [
    { name: "GREETING", value: "hello" },
    { name: "TOKEN", valueFrom: { secretKeyRef: { name: "shop", key: "token" } } },
  ];
  const resources = { requests: { cpu: "0.5", memory: "64Mi" }, limits: { memory: "128Mi" } };
  const key = await createReady("equipped", { port: 8080, env, resources });
  const read = async () => (await cluster.client.get(Deployment, key)).spec?.template.spec?.containers[0];
  expect(await read()).toMatchObject({ env, ports: [{ name: "http", containerPort: 8080 }] });
  await patch(key, { env: null, resources: null });
  await waitFor(
    cluster.client,
    Deployment,
    key,
    ({ spec }) => !spec?.template.spec?.containers[0]?.env?.length,
  );
  expect((await read())?.resources?.limits).toBeUndefined();
});

test.for([Deployment, Service, Ingress] as const)("a deleted $kind comes back", async (kind) => {
  const key = await createReady(`deleted-${kind.kind.toLowerCase()}`, { host: "deleted.example.com" });
  const before = await cluster.client.get(kind, key);
  await cluster.client.delete(kind, key);
  await waitFor(cluster.client, kind, key, ({ metadata }) => metadata.uid !== before.metadata.uid);
  await waitForCondition(cluster.client, WebApp, key, "Ready");
});

test("an edited child is put right, and what others added to it stays", async () => {
  const key = await createReady("edited");
  const annotations = { "example.com/note": "mine" };
  await cluster.client.patch(Deployment, key, {
    type: "strategic",
    patch: {
      metadata: { annotations },
      spec: { replicas: 7, template: { spec: { containers: [{ name: "app", image: "nginx:evil" }] } } },
    },
  });
  const mended = await waitFor(cluster.client, Deployment, key, (deployment) => {
    const image = deployment.spec?.template.spec?.containers[0]?.image;
    return deployment.spec?.replicas === 2 && image === "nginx:1.25" && deployment;
  });
  expect(mended.metadata.annotations).toMatchObject(annotations);
  await cluster.client.patch(Service, key, { type: "merge", patch: { spec: { selector: { app: "none" } } } });
  await waitFor(
    cluster.client,
    Service,
    key,
    ({ spec }) => spec?.selector?.["app.kubernetes.io/name"] === "edited",
  );
});

test("the Ingress follows the host, and goes with it", async () => {
  const key = await createReady("hosted", { host: "one.example.com" });
  const app = await cluster.client.get(WebApp, key);
  expect(app.status?.url).toBe("http://one.example.com/");
  await patch(key, { host: "two.example.com" });
  await waitFor(cluster.client, Ingress, key, ({ spec }) => spec?.rules?.[0]?.host === "two.example.com");
  await patch(key, { host: null });
  await waitForDeletion(cluster.client, Ingress, key);
  await waitFor(
    cluster.client,
    WebApp,
    key,
    ({ status }) => status?.url === `http://hosted.${namespace}.svc/`,
  );
});

test("an autoscaler takes the replicas over without a dip, is not fought, and gives them back", async () => {
  const key = await createReady("scaled", { replicas: 3 });
  const counts: (number | undefined)[] = [];
  const watching = new AbortController();
  const watched = (async () => {
    const options = { namespace, fieldSelector: "metadata.name=scaled", signal: watching.signal };
    for await (const event of cluster.client.watch(Deployment, options))
      if (event.type === "MODIFIED" && counts.at(-1) !== event.object.spec?.replicas)
        counts.push(event.object.spec?.replicas);
  })().catch(() => undefined);
  await patch(key, { autoscaling: { min: 2, max: 5 } });
  await waitFor(cluster.client, HorizontalPodAutoscaler, key, ({ spec }) => spec?.maxReplicas === 5);
  await waitFor(
    cluster.client,
    Deployment,
    key,
    ({ metadata }) => metadata.annotations?.["example.com/scaled-by"] === "autoscaler",
  );
  await cluster.client
    .subresource(Deployment, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas: 4 } } }, { fieldManager: "kube-controller-manager" });
  await waitFor(
    cluster.client,
    WebApp,
    key,
    ({ status }) => status?.phase === "Ready" && status.replicas === 4,
  );
  await patch(key, { image: "nginx:1.27" });
  await waitFor(
    cluster.client,
    WebApp,
    key,
    ({ metadata, status }) => status?.observedGeneration === metadata.generation && status?.phase === "Ready",
  );
  expect((await cluster.client.get(Deployment, key)).spec?.replicas).toBe(4);
  await patch(key, { autoscaling: null });
  await waitForDeletion(cluster.client, HorizontalPodAutoscaler, key);
  await waitFor(cluster.client, Deployment, key, ({ spec }) => spec?.replicas === 3);
  watching.abort();
  await watched;
  expect(counts).toEqual([3, 4, 3]);
});

test("an autoscaler that someone else made for the Deployment is not fought either", async () => {
  const key = await createReady("foreign");
  await cluster.client.create(HorizontalPodAutoscaler, {
    metadata: { namespace, name: "somebodys" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "foreign" },
      minReplicas: 3,
      maxReplicas: 4,
    },
  });
  await cluster.client
    .subresource(Deployment, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas: 3 } } });
  await waitFor(
    cluster.client,
    WebApp,
    key,
    ({ status }) => status?.phase === "Ready" && status.replicas === 3,
  );
  expect((await cluster.client.get(WebApp, key)).spec.replicas).toBe(2);
});

test("scaling through the scale subresource is a Scaling phase, in either version, to zero and back", async () => {
  const key = await createReady("scale", { replicas: 1 });
  const scale = async (kind: typeof WebApp, replicas: number) => {
    const walk = phasesUntil("scale", "Scaling");
    await cluster.client
      .subresource(kind, key, "scale")
      .patch({ type: "merge", patch: { spec: { replicas } } });
    expect((await walk).at(-1)).toBe("Scaling");
    return waitFor(
      cluster.client,
      WebApp,
      key,
      (app) => app.status?.phase === "Ready" && app.status.replicas === replicas && app,
    );
  };
  expect((await scale(WebApp, 3)).status?.availableReplicas).toBe(3);
  const none = await scale({ ...WebApp, version: "v2" }, 0);
  expect(none.status?.conditions?.[0]).toMatchObject({
    type: "Ready",
    status: "True",
    reason: "ScaledToZero",
  });
  expect((await scale(WebApp, 2)).spec.replicas).toBe(2);
});

test("a quota that is too small is named", async () => {
  const quota = { metadata: { namespace, name: "small" }, spec: { hard: { "count/secrets": "10" } } };
  await cluster.client.create(ResourceQuota, quota);
  await cluster.client.delete(ResourceQuota, quota.metadata);
});

test("a WebApp deleted in the middle of its rollout goes, and takes everything with it", async () => {
  const key = { namespace, name: "short-lived" };
  await cluster.client.create(WebApp, { metadata: key, spec: { ...spec, host: "short.example.com" } });
  await waitFor(cluster.client, Deployment, key, () => true);
  const walk = phasesUntil("short-lived", "Deleting");
  await cluster.client.delete(WebApp, key);
  expect((await walk).at(-1)).toBe("Deleting");
  await waitForDeletion(cluster.client, WebApp, key);
  await waitForDeletion(cluster.client, Service, key);
  await waitForDeletion(cluster.client, Ingress, key);
  const { items } = await cluster.client.list(Pod, {
    namespace,
    labelSelector: "app.kubernetes.io/name=short-lived",
  });
  expect(items).toEqual([]);
});

test("deleting with orphan leaves the children", async () => {
  const key = await createReady("orphaned");
  await cluster.client.delete(WebApp, key, { propagationPolicy: "Orphan" });
  await waitForDeletion(cluster.client, WebApp, key);
  const { metadata } = await cluster.client.get(Deployment, key);
  expect(metadata.ownerReferences ?? []).toEqual([]);
});

test.for(badManifests)("refused: $why", async ({ field, manifest, version = "v1" }) => {
  const kind = { ...WebApp, version };
  const refused = cluster.client.create(kind, {
    ...manifest,
    metadata: { namespace, ...manifest.metadata },
  } as never);
  const error = await refused.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).message).toContain(field);
});

test("an image that floats is warned of", async () => {
  const client = new Client({ transport: cluster.transport(), onWarning: (text) => warnings.push(text) });
  await client.create(
    WebApp,
    { metadata: { namespace, name: "floating" }, spec: { image: "nginx" } },
    { dryRun: true },
  );
  expect(warnings).toEqual([expect.stringContaining("spec.image: nginx is another image tomorrow")]);
});
