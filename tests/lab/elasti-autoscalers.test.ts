import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  applyManifest,
  type Client,
  type KubernetesObject,
  type NamespacedKey,
  type ResourceKind,
} from "@windlass/client";
import { Deployment, HorizontalPodAutoscaler, Service } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ElastiService } from "../../operators/elasti/src/index.ts";
import { Rollout } from "../../operators/elasti/src/service/scale-target.ts";
import { ScaledObject } from "../../operators/elasti/src/service/scaled-object.ts";
import { agnhost } from "../../operators/elasti/testing/agnhost.ts";
import { type LabEnvironment, labEnvironment } from "../../operators/elasti/testing/lab-environment.ts";
import { askOnce, startLoad, untilAnswered } from "../../operators/elasti/testing/load.ts";
import { record } from "../../operators/elasti/testing/record.ts";
import { createTarget, phase, sendToSleep, urlOf } from "../../operators/elasti/testing/traffic-suite.ts";
import { lab as labProgram } from "../../scripts/packaging/operator-image.ts";

/**
 * Which real controllers of others are started beside the cluster: of `keda`, `argo-rollouts` and
 * `metrics-server`, with blanks between. They take up to ten minutes to build the first time.
 */
const extras = (process.env.ELASTI_EXTRAS ?? "").split(" ").filter((name) => name !== "");
const without = (name: string) => !extras.includes(name);
const wait = { timeout: 90_000 };
const testMs = { timeout: 600_000 + 4 * 1_000 * Number(process.env.ELASTI_WATCH_SECONDS ?? 15) };
/** Longer than it takes them to look again, several times over. */
const watchedMs = Number(process.env.ELASTI_WATCH_SECONDS ?? 15) * 1_000;
const cycles = 3;
const perSecond = 100;

let lab: LabEnvironment;

function extra(...args: readonly string[]): void {
  execFileSync(join(dirname(labProgram), "extra"), args, { stdio: ["ignore", "ignore", "inherit"] });
}

beforeAll(async () => {
  if (extras.length === 0) return;
  for (const name of extras) extra(name);
  lab = await labEnvironment();
}, 1_800_000);
afterAll(async () => {
  await lab?.[Symbol.asyncDispose]();
  for (const name of extras) extra(name, "stop");
}, 300_000);
afterEach(async () => {
  if (!lab) return;
  const { items } = await lab.client.list(ElastiService, { namespace: lab.namespace });
  for (const { metadata } of items)
    await lab.client.delete(ElastiService, { namespace: lab.namespace, name: metadata.name });
});

/** Sleeps and wakes under traffic, and loses none of it. */
async function cycleUnderTraffic(client: Client, key: NamespacedKey): Promise<void> {
  const load = startLoad(await urlOf(client, key), perSecond);
  for (let cycle = 0; cycle < cycles; cycle++) {
    const waking = phase(client, key, "Waking");
    await sendToSleep(client, key);
    await waking;
    await phase(client, key, "Serving");
  }
  const { sent, ok, failures } = await load.stop();
  process.stdout.write(`${key.name}, ${cycles} cycles: ${sent} sent, ${failures.length} failed\n`);
  expect(failures).toEqual([]);
  expect(ok).toBe(sent);
  const watchedSeconds = watchedMs / 1_000;
  await record(`beside the real ${extras.join(", ")}: ${key.name}`, {
    cycles,
    requests: sent,
    lost: failures.length,
    watchedSeconds,
  });
}

/** Looks often at what must not change for a while. */
async function stays(holds: () => Promise<void>): Promise<void> {
  const until = performance.now() + watchedMs;
  while (performance.now() < until) {
    await holds();
    await delay(500);
  }
}

async function phaseOf(client: Client, key: NamespacedKey): Promise<string | undefined> {
  return (await client.get(ElastiService, key)).status?.phase;
}

test.skipIf(without("keda"))(
  "KEDA lets its target sleep, and has it back when it wakes",
  testMs,
  async () => {
    const { client, namespace } = lab;
    const key = await createTarget({ client, namespace, container: agnhost }, "keda", {
      autoscaler: { type: "keda", name: "keda" },
    });
    const allDay = { timezone: "UTC", start: "0 0 * * *", end: "59 23 * * *", desiredReplicas: "2" };
    const manifest = {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: key,
      spec: {
        scaleTargetRef: { name: "keda" },
        pollingInterval: 2,
        minReplicaCount: 2,
        maxReplicaCount: 3,
        triggers: [{ type: "cron", metadata: allDay }],
      },
    };
    await applyManifest(client, manifest);
    const replicas = async () => (await client.get(Deployment, key)).spec?.replicas;
    const isTwo = () => waitFor(client, Deployment, key, ({ spec }) => spec?.replicas === 2, wait);
    await isTwo();
    const url = await urlOf(client, key);
    await untilAnswered(url);
    await sendToSleep(client, key);
    await phase(client, key, "Asleep");
    await stays(async () => {
      expect(await replicas()).toBe(0);
      expect(await phaseOf(client, key)).toBe("Asleep");
    });
    expect(await askOnce(url)).toMatchObject({ status: 200 });
    await phase(client, key, "Serving");
    await waitFor(
      client,
      ScaledObject,
      key,
      ({ metadata }) => metadata.annotations?.["autoscaling.keda.sh/paused"] === undefined,
      wait,
    );
    await isTwo();
    await stays(async () => {
      expect(await replicas()).toBe(2);
      expect(await phaseOf(client, key)).toBe("Serving");
    });
    await cycleUnderTraffic(client, key);
  },
);

test.skipIf(without("metrics-server"))(
  "an autoscaler that sees the CPU of its pods rests while they sleep, and scales them when they are awake",
  testMs,
  async () => {
    const { client, namespace } = lab;
    const key = { namespace, name: "measured" };
    const utilization = { type: "Utilization", averageUtilization: 10 };
    await client.create(HorizontalPodAutoscaler, {
      metadata: key,
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: key.name },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [{ type: "Resource", resource: { name: "cpu", target: utilization } }],
      },
    });
    const autoscaler = { type: "hpa", name: key.name };
    // Little CPU is a lot of what it asks for.
    const container = { ...agnhost, resources: { requests: { cpu: "20m", memory: "16Mi" } } };
    await createTarget({ client, namespace, container }, key.name, { autoscaler });
    const isMeasured = (active: "True" | "False", reason: string) =>
      waitFor(
        client,
        HorizontalPodAutoscaler,
        key,
        ({ status }) =>
          status?.conditions?.some(
            (one) => one.type === "ScalingActive" && one.status === active && one.reason === reason,
          ),
        { timeout: 180_000 },
      );
    await isMeasured("True", "ValidMetricFound");
    const url = await urlOf(client, key);
    await untilAnswered(url);
    await sendToSleep(client, key);
    await phase(client, key, "Asleep");
    await isMeasured("False", "ScalingDisabled");
    await stays(async () => {
      expect(await phaseOf(client, key)).toBe("Asleep");
    });
    const load = startLoad(url, perSecond);
    await phase(client, key, "Serving");
    // What the requests cost is more than the aim for one pod.
    await waitFor(client, Deployment, key, ({ spec }) => (spec?.replicas ?? 0) > 1, { timeout: 240_000 });
    expect(await phaseOf(client, key)).toBe("Serving");
    const { sent, failures } = await load.stop();
    process.stdout.write(`measured: ${sent} sent, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
  },
);

/** What of a Rollout is read, and changed. */
interface RolloutObject extends KubernetesObject {
  readonly spec?: { readonly template?: object };
  readonly status?: {
    readonly phase?: string;
    readonly availableReplicas?: number;
    readonly currentPodHash?: string;
  };
}

const ArgoRollout: ResourceKind<RolloutObject, RolloutObject> = Rollout;

/** Argo's ways to roll out, as a Rollout named `name` has them. */
const ways: Readonly<Record<string, (name: string) => object>> = {
  canary: () => ({ strategy: { canary: { steps: [{ setWeight: 50 }, { pause: { duration: 1 } }] } } }),
  // Argo writes the selector of a Service that the Rollout names, so the one that sleeps is
  // another.
  "blue-green": (name) => ({ strategy: { blueGreen: { activeService: `${name}-active` } } }),
};

/** Makes a Rollout of one pod with its Service, and waits until it is ready. */
async function createRollout(name: string, spec: object): Promise<NamespacedKey> {
  const { client, namespace } = lab;
  const key = { namespace, name };
  const labels = { app: name };
  const ports = [{ name: "http", port: 8000, targetPort: 8080 }];
  for (const service of [name, `${name}-active`])
    await client.create(Service, {
      metadata: { namespace, name: service },
      spec: { selector: labels, ports },
    });
  const manifest = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Rollout",
    metadata: key,
    spec: { replicas: 1, selector: { matchLabels: labels }, ...spec },
  };
  await applyManifest(client, manifest);
  await isHealthy(key);
  const scaleTargetRef = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name };
  await client.create(ElastiService, { metadata: key, spec: { scaleTargetRef, service: name } });
  return key;
}

async function isHealthy(key: NamespacedKey): Promise<void> {
  await waitFor(
    lab.client,
    ArgoRollout,
    key,
    ({ status }) => status?.phase === "Healthy" && status.availableReplicas === 1,
    { timeout: 120_000 },
  );
}

const podTemplate = (name: string, version: string) => ({
  metadata: { labels: { app: name }, annotations: { version } },
  spec: { containers: [agnhost] },
});

test.skipIf(without("argo-rollouts")).for(Object.entries(ways))(
  "a Rollout of Argo's own controller sleeps and wakes under traffic, and may change while it sleeps: %s",
  testMs,
  async ([name, way]) => {
    const { client } = lab;
    const key = await createRollout(name, { template: podTemplate(name, "1"), ...way(name) });
    const url = await urlOf(client, key);
    await untilAnswered(url);
    await phase(client, key, "Serving");
    await cycleUnderTraffic(client, key);
    await isHealthy(key);
    const hash = async () => (await client.get(ArgoRollout, key)).status?.currentPodHash;
    const before = await hash();
    await sendToSleep(client, key);
    await phase(client, key, "Asleep");
    const patch = { spec: { template: podTemplate(name, "2") } };
    await client.patch(ArgoRollout, key, { type: "merge", patch });
    await waitFor(client, ArgoRollout, key, ({ status }) => status?.currentPodHash !== before, wait);
    await stays(async () => {
      expect(await phaseOf(client, key)).toBe("Asleep");
    });
    expect(await askOnce(url)).toMatchObject({ status: 200 });
    await phase(client, key, "Serving");
    await isHealthy(key);
    expect(await hash()).not.toBe(before);
    await cycleUnderTraffic(client, key);
    // Nothing of the sleep is left in the selector, and what Argo has there stays.
    const { spec } = await client.get(Service, key);
    expect(Object.keys(spec?.selector ?? {}).filter((label) => label.includes("elasti"))).toEqual([]);
  },
);

test.skipIf(without("argo-rollouts"))(
  "a Service that Argo manages is refused, and its Rollout left alone",
  testMs,
  async () => {
    const { client } = lab;
    const key = await createRollout("managed", {
      template: podTemplate("managed", "1"),
      strategy: { blueGreen: { activeService: "managed" } },
    });
    await waitFor(
      client,
      ElastiService,
      key,
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "ServiceUnsupported"),
      wait,
    );
    await sendToSleep(client, key);
    await stays(async () => {
      expect((await askOnce(await urlOf(client, key))).status).toBe(200);
    });
    await isHealthy(key);
  },
);

test.skipIf(without("argo-rollouts"))(
  "a Rollout that takes its pods from a Deployment sleeps and wakes under traffic",
  testMs,
  async () => {
    const { client, namespace } = lab;
    const name = "referring";
    const selector = { matchLabels: { app: name } };
    await client.create(Deployment, {
      metadata: { namespace, name: "referred" },
      spec: { replicas: 0, selector, template: podTemplate(name, "1") },
    });
    const workloadRef = { apiVersion: "apps/v1", kind: "Deployment", name: "referred" };
    const key = await createRollout(name, { selector: undefined, workloadRef, ...ways.canary?.(name) });
    await untilAnswered(await urlOf(client, key));
    await phase(client, key, "Serving");
    await cycleUnderTraffic(client, key);
  },
);
