import { type AnyKind, ApiError, Client, type NamespacedKey } from "@windlass/client";
import { adoptableByAnnotation, type ObjectOf } from "@windlass/runtime";
import {
  Deployment,
  EventV1,
  HorizontalPodAutoscaler,
  Ingress,
  Pod,
  ResourceQuota,
  Secret,
  Service,
} from "@windlass/runtime/kinds";
import { waitFor, waitForCondition, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, WebApp } from "../src/index.ts";
import { badManifests } from "./bad-manifests.ts";
import { images, type World } from "./world.ts";

/** Real pods take their time, and so does a lease that nobody released. */
const timeout = 90_000;
const wait = { timeout };

/**
 * What somebody may have given an object of their own, that a WebApp's of the same name can be made
 * of.
 */
function specOfSomebody(kind: AnyKind, name: string): object {
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "webapp-operator" };
  const backend = { service: { name: "theirs", port: { number: 80 } } };
  switch (kind.kind) {
    case "Deployment": {
      const containers = [{ name: "app", image: images.runs }];
      return {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      };
    }
    case "Service":
      return { selector: { app: "theirs" }, ports: [{ name: "http", port: 80, targetPort: "http" }] };
    default:
      return {
        rules: [
          { host: "theirs.example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } },
        ],
      };
  }
}

/** Whether a field manager holds what the operator has handed over. */
const isHeld = ({ metadata: { managedFields = [] } }: ObjectOf<typeof Deployment>) =>
  managedFields.some(({ manager }) => manager === "webapp.windlass-handover");

/**
 * What the operator promises, to be kept in every world.
 *
 * @returns the world, for tests of that world alone
 */
export function webappSuite(start: () => Promise<World>): () => World {
  let world: World;
  let client: Client;
  let namespace: string;

  beforeAll(async () => {
    world = await start();
    client = world.client;
    namespace = await world.createNamespace();
  });
  afterAll(() => world.close());

  async function create(name: string, spec: object = {}): Promise<NamespacedKey> {
    const key = { namespace, name };
    await client.create(WebApp, { metadata: key, spec: { image: images.runs, replicas: 2, ...spec } });
    return key;
  }

  async function createReady(name: string, spec: object = {}): Promise<NamespacedKey> {
    const key = await create(name, spec);
    await ready(key);
    return key;
  }

  const patch = (key: NamespacedKey, spec: object) =>
    client.patch(WebApp, key, { type: "merge", patch: { spec } });
  const scale = (kind: typeof WebApp | typeof Deployment, key: NamespacedKey, replicas: number) =>
    client.subresource(kind, key, "scale").patch({ type: "merge", patch: { spec: { replicas } } });
  const ready = (key: NamespacedKey) => waitForCondition(client, WebApp, key, "Ready", "True", wait);
  const seen = (key: NamespacedKey, check: (app: App) => unknown) =>
    waitFor(client, WebApp, key, (app) => (check(app) ? app : undefined), wait);
  const degraded = (key: NamespacedKey) => waitForCondition(client, WebApp, key, "Degraded", "True", wait);
  const conditionOf = ({ status }: App, type: string) => status?.conditions?.find((one) => one.type === type);

  /**
   * Makes a change, and resolves to the phases that the app goes through from then on, until it is
   * in the last one. Watches from the state before the change, so that no phase passes unseen.
   */
  async function phasesAfter(
    key: NamespacedKey,
    last: string,
    change: () => Promise<unknown>,
  ): Promise<readonly string[]> {
    const scope = { namespace, fieldSelector: `metadata.name=${key.name}` };
    const { items, metadata } = await client.list(WebApp, scope);
    const phases = items.flatMap(({ status }) => status?.phase ?? []);
    await change();
    const from = { resourceVersion: metadata.resourceVersion ?? "", signal: AbortSignal.timeout(timeout) };
    for await (const event of client.watch(WebApp, { ...scope, ...from })) {
      if (event.type !== "ADDED" && event.type !== "MODIFIED") continue;
      const { phase } = event.object.status ?? {};
      if (phase && phases.at(-1) !== phase) phases.push(phase);
      if (phases.at(-1) === last) return phases;
    }
    throw new Error(`WebApp ${key.name} was never ${last}: ${phases.join(", ")}`);
  }

  /** Resolves when there has been an event for each of these reasons. */
  async function toldOf(uid: string | undefined, reasons: readonly string[]): Promise<void> {
    const missing = new Set(reasons);
    const signal = AbortSignal.timeout(timeout);
    for await (const event of client.watch(EventV1, { namespace, signal })) {
      if (event.type === "ADDED" && event.object.regarding?.uid === uid)
        missing.delete(event.object.reason ?? "");
      if (missing.size === 0) return;
    }
  }

  test("a WebApp walks from Created to Ready, with an event for each step", async () => {
    const key = { namespace, name: "nginx-app" };
    const spec = { image: images.serves, replicas: 3 };
    const phases = await phasesAfter(key, "Ready", () => client.create(WebApp, { metadata: key, spec }));
    expect(phases).toEqual(["Created", "Reconciling", "WaitingForPods", "Ready"]);
    const app = await client.get(WebApp, key);
    const { metadata } = app;
    expect(metadata.labels).toMatchObject({ "app.kubernetes.io/name": "nginx-app" });
    expect(app.status).toMatchObject({
      replicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
      url: `http://nginx-app.${namespace}.svc/`,
    });
    expect(app.status?.conditions?.map((one) => [one.type, one.status, one.reason])).toEqual([
      ["Ready", "True", "Ready"],
      ["Progressing", "False", "Ready"],
      ["Degraded", "False", "AsExpected"],
    ]);
    await toldOf(metadata.uid, phases);
  });

  test("a missing Secret is named, and the container gets port, environment and resources", async () => {
    const env = [
      { name: "GREETING", value: "hello" },
      { name: "TOKEN", valueFrom: { secretKeyRef: { name: "shop", key: "token" } } },
    ];
    const resources = { requests: { cpu: "0.01", memory: "16Mi" }, limits: { memory: "64Mi" } };
    const key = await create("equipped", { replicas: 1, port: 8080, env, resources });
    expect(conditionOf(await degraded(key), "Degraded")?.message).toContain('secret "shop" not found');
    await client.create(Secret, { metadata: { namespace, name: "shop" }, stringData: { token: "t" } });
    await ready(key);
    const read = async () => (await client.get(Deployment, key)).spec?.template.spec?.containers[0];
    expect(await read()).toMatchObject({ env, ports: [{ name: "http", containerPort: 8080 }] });
    await patch(key, { env: null, resources: null });
    await ready(key);
    expect(await read()).not.toHaveProperty("env");
    expect(await read()).toMatchObject({ resources: {} });
  });

  test.for([Deployment, Service, Ingress] as const)("a deleted $kind comes back", async (kind) => {
    const key = await createReady(`deleted-${kind.kind.toLowerCase()}`, { host: "deleted.example.com" });
    const before = await client.get(kind, key);
    await client.delete(kind, key);
    await waitFor(client, kind, key, ({ metadata }) => metadata.uid !== before.metadata.uid, wait);
    await ready(key);
  });

  test.for([Deployment, Service, Ingress] as const)(
    "somebody's $kind of the name is left alone and named, until it is handed over",
    async (one) => {
      const kind: AnyKind = one;
      const key = { namespace, name: `taken-${kind.kind.toLowerCase()}` };
      const theirs = {
        metadata: { ...key, labels: { whose: "theirs" } },
        spec: specOfSomebody(kind, key.name),
      };
      const { metadata } = await client.create(kind, theirs);
      await create(key.name, { host: "taken.example.com" });
      const refused = await seen(key, (app) => conditionOf(app, "Ready")?.reason === "ChildAlreadyExists");
      const message = conditionOf(refused, "Ready")?.message;
      expect(message).toContain(`${kind.kind} ${namespace}/${key.name} exists and was not made for WebApp`);
      await toldOf(refused.metadata.uid, ["ChildAlreadyExists"]);
      const kept = await client.get(kind, key);
      expect(kept.metadata.ownerReferences).toBeUndefined();
      expect(kept).toMatchObject(theirs);
      await client.delete(WebApp, key);
      await waitForDeletion(client, WebApp, key, wait);
      expect((await client.get(kind, key)).metadata.uid).toBe(metadata.uid);
      await create(key.name, { host: "taken.example.com" });
      const annotations = { [adoptableByAnnotation]: `webapps.example.com/${key.name}` };
      await client.patch(kind, key, { type: "merge", patch: { metadata: { annotations } } });
      await ready(key);
      const taken = await client.get(kind, key);
      expect(taken.metadata).toMatchObject({ uid: metadata.uid, ownerReferences: [{ kind: "WebApp" }] });
      await client.delete(WebApp, key);
      await waitForDeletion(client, kind, key, wait);
    },
  );

  test("an edited child is put right, and what others added to it stays", async () => {
    const key = await createReady("edited");
    const annotations = { "example.com/note": "mine" };
    const containers = [{ name: "app", image: images.missing }];
    await client.patch(Deployment, key, {
      type: "strategic",
      patch: { metadata: { annotations }, spec: { replicas: 7, template: { spec: { containers } } } },
    });
    const mended = await waitFor(client, Deployment, key, (deployment) => {
      const image = deployment.spec?.template.spec?.containers[0]?.image;
      return deployment.spec?.replicas === 2 && image === images.runs && deployment;
    });
    expect(mended.metadata.annotations).toMatchObject(annotations);
    await client.patch(Service, key, { type: "json", patch: [{ op: "remove", path: "/spec/selector" }] });
    await waitFor(
      client,
      Service,
      key,
      ({ spec }) => spec?.selector?.["app.kubernetes.io/name"] === "edited",
    );
    await ready(key);
  });

  test("the Ingress follows the host, and goes with it", async () => {
    const key = await createReady("hosted", { host: "one.example.com" });
    expect((await client.get(WebApp, key)).status?.url).toBe("http://one.example.com/");
    await patch(key, { host: "two.example.com" });
    await waitFor(client, Ingress, key, ({ spec }) => spec?.rules?.[0]?.host === "two.example.com", wait);
    await patch(key, { host: null });
    await waitForDeletion(client, Ingress, key, wait);
    await seen(key, ({ status }) => status?.url === `http://hosted.${namespace}.svc/`);
  });

  test("an autoscaler gets the replicas without a dip, is not fought, and gives them back", async () => {
    const key = await createReady("scaled", { replicas: 3 });
    const counts: (number | undefined)[] = [];
    const watching = (async () => {
      const signal = AbortSignal.timeout(timeout);
      const options = { namespace, fieldSelector: "metadata.name=scaled", signal };
      for await (const event of client.watch(Deployment, options)) {
        if (event.type !== "MODIFIED") continue;
        const { replicas } = event.object.spec;
        if (counts.at(-1) !== replicas) counts.push(replicas);
        if (counts.length === 3) return;
      }
    })();
    await patch(key, { autoscaling: { min: 2, max: 5 } });
    await waitFor(client, HorizontalPodAutoscaler, key, ({ spec }) => spec?.maxReplicas === 5, wait);
    await waitFor(client, Deployment, key, isHeld, wait);
    await scale(Deployment, key, 4);
    await seen(key, ({ status }) => status?.phase === "Ready" && status.replicas === 4);
    await patch(key, { env: [{ name: "A", value: "b" }] });
    await ready(key);
    expect((await client.get(Deployment, key)).spec?.replicas).toBe(4);
    await patch(key, { autoscaling: null });
    await waitForDeletion(client, HorizontalPodAutoscaler, key, wait);
    await watching;
    expect(counts).toEqual([3, 4, 3]);
  });

  test("an autoscaler that someone else made for the Deployment is not fought either", async () => {
    const key = await createReady("foreign");
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "foreign" };
    await client.create(HorizontalPodAutoscaler, {
      metadata: { namespace, name: "somebodys" },
      spec: { scaleTargetRef, minReplicas: 3, maxReplicas: 4 },
    });
    await scale(Deployment, key, 3);
    const app = await seen(key, ({ status }) => status?.phase === "Ready" && status.replicas === 3);
    expect(app.spec.replicas).toBe(2);
  });

  test("kubectl scale is a Scaling phase, in either version, to zero and back", async () => {
    const key = await createReady("scale", { replicas: 1 });
    const scaleTo = async (kind: typeof WebApp, replicas: number) => {
      await phasesAfter(key, "Scaling", () => scale(kind, key, replicas));
      return seen(key, ({ status }) => status?.phase === "Ready" && status.replicas === replicas);
    };
    expect((await scaleTo(WebApp, 3)).status?.availableReplicas).toBe(3);
    const none = await scaleTo({ ...WebApp, version: "v2" }, 0);
    expect(conditionOf(none, "Ready")).toMatchObject({ status: "True", reason: "ScaledToZero" });
    expect((await scaleTo(WebApp, 1)).spec.replicas).toBe(1);
  });

  test("an image that does not exist is named with the pod, and mending it heals", async () => {
    const key = await createReady("no-image");
    const { metadata } = await patch(key, { image: images.missing });
    const broken = await degraded(key);
    expect(conditionOf(broken, "Ready")).toMatchObject({ status: "False", reason: "ImagePullFailed" });
    expect(conditionOf(broken, "Degraded")?.message).toMatch(
      /^pod no-image-\S+ cannot pull image nginx:no-such-tag$/,
    );
    await toldOf(metadata.uid, ["ImagePullFailed"]);
    await patch(key, { image: images.runs });
    expect(conditionOf(await ready(key), "Degraded")?.status).toBe("False");
  });

  test("a container that keeps ending is named", async () => {
    const key = await create("ending", { image: images.ends, replicas: 1 });
    const { reason, message } = conditionOf(await degraded(key), "Degraded") ?? {};
    expect(reason).toBe("CrashLoop");
    expect(message).toMatch(/^container app of pod ending-\S+ ended with exit code 0$/);
    await client.delete(WebApp, key);
  });

  test("a pod that fits nowhere is named", async () => {
    const key = await create("huge", { replicas: 1, resources: { requests: { cpu: "1000" } } });
    const { reason, message } = conditionOf(await degraded(key), "Degraded") ?? {};
    expect(reason).toBe("Unschedulable");
    expect(message).toMatch(/^pod huge-\S+ has no node: .*Insufficient cpu/);
    await client.delete(WebApp, key);
  });

  test("a quota that is used up is named", async () => {
    const poor = await world.createNamespace();
    await client.create(ResourceQuota, {
      metadata: { namespace: poor, name: "one-pod" },
      spec: { hard: { pods: "1" } },
    });
    await waitFor(
      client,
      ResourceQuota,
      { namespace: poor, name: "one-pod" },
      ({ status }) => status?.used,
      wait,
    );
    const key = { namespace: poor, name: "poor" };
    await client.create(WebApp, { metadata: key, spec: { image: images.runs, replicas: 2 } });
    const { reason, message } = conditionOf(await degraded(key), "Degraded") ?? {};
    expect(reason).toBe("QuotaExceeded");
    expect(message).toContain("one-pod");
  });

  test("a leader that is killed in the middle of a rollout is followed by another, which ends it", async () => {
    const key = { namespace, name: "rollout" };
    await phasesAfter(key, "WaitingForPods", () => create("rollout", { replicas: 3 }));
    await world.killLeader();
    await patch(key, { replicas: 2, env: [{ name: "ROUND", value: "2" }] });
    const app = await seen(key, (one) => one.status?.phase === "Ready" && one.status.replicas === 2);
    expect(app.status?.observedGeneration).toBe(app.metadata.generation);
  });

  test("a leader that is drained in the middle of a rollout hands over", async () => {
    const key = await createReady("drained");
    await patch(key, { env: [{ name: "ROUND", value: "2" }] });
    await world.drainLeader();
    await patch(key, { replicas: 3 });
    await seen(key, ({ status }) => status?.phase === "Ready" && status.replicas === 3);
  });

  test("a WebApp deleted in the middle of a rollout goes, once its pods have gone", async () => {
    const key = await create("short-lived", { host: "short.example.com" });
    await waitFor(client, Deployment, key, () => true, wait);
    await phasesAfter(key, "Deleting", () => client.delete(WebApp, key));
    await waitForDeletion(client, WebApp, key, wait);
    const labelSelector = "app.kubernetes.io/name=short-lived";
    expect((await client.list(Pod, { namespace, labelSelector })).items).toEqual([]);
    for (const kind of [Deployment, Service, Ingress]) await waitForDeletion(client, kind, key, wait);
  });

  test("a WebApp deleted with --cascade=orphan leaves its children", async () => {
    const key = await createReady("orphaned");
    await client.delete(WebApp, key, { propagationPolicy: "Orphan" });
    await waitForDeletion(client, WebApp, key, wait);
    const deployment = await client.get(Deployment, key);
    expect(deployment.metadata.ownerReferences ?? []).toEqual([]);
    await client.delete(Deployment, key);
  });

  test("both versions show one object", async () => {
    const v2: AnyKind = { ...WebApp, version: "v2" };
    const key = { namespace, name: "versions" };
    const spec = { image: images.runs, ingress: { host: "v2.example.com" }, scaling: { min: 1, max: 2 } };
    await client.create(v2, { apiVersion: "example.com/v2", metadata: key, spec });
    const app = await ready(key);
    expect(app.spec).toMatchObject({ host: "v2.example.com", replicas: 1, autoscaling: { min: 1, max: 2 } });
    await patch(key, { replicas: 2 });
    expect(await client.get(v2, key)).toMatchObject({
      spec,
      metadata: { annotations: { "example.com/v1-replicas": "2" } },
    });
  });

  test.for(badManifests)("refused: $why", async ({ field, manifest, version = "v1" }) => {
    const object = { ...manifest, metadata: { namespace, ...manifest.metadata } };
    const refused = client.create<AnyKind>({ ...WebApp, version }, object);
    await expect(refused).rejects.toBeInstanceOf(ApiError);
    await expect(refused).rejects.toThrow(field);
  });

  test("an image that floats is warned of", async () => {
    const warnings: string[] = [];
    const { transport } = client;
    const listening = new Client({ transport, onWarning: (text) => warnings.push(text) });
    const metadata = { namespace, name: "floating" };
    await listening.create(WebApp, { metadata, spec: { image: "nginx" } }, { dryRun: true });
    expect(warnings).toEqual([expect.stringContaining("spec.image: nginx is another image tomorrow")]);
  });

  return () => world;
}
