import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { applyManifest, asManifest, type Client, type NamespacedKey } from "@windlass/client";
import { ElastiService } from "@windlass/elasti";
import { Deployment, EndpointSlice, Service } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForDeletion } from "@windlass/testing";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { helm, isUp, kustomize, type Place, removeAll } from "../../operators/elasti/testing/installation.ts";
import { loadIntoLab } from "../../scripts/packaging/operator-image.ts";

const operator = join(import.meta.dirname, "..", "..", "operators", "elasti");
const wait = { timeout: 90_000 };

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "cluster" });
  await loadIntoLab("elasti");
}, 300_000);
afterAll(() => cluster.close());

/**
 * Applies a sample. Its ElastiServices may have a shorter cooldown, so that the test waits less.
 */
async function applySample(client: Client, namespace: string, file: string, elasti: object = {}) {
  for (const document of loadAll(await readFile(join(operator, "config", "samples", file), "utf8"))) {
    const manifest = asManifest(document, file);
    const changes = manifest.kind === "ElastiService" ? elasti : {};
    await applyManifest(client, {
      ...manifest,
      metadata: { ...manifest.metadata, namespace },
      spec: Object.assign({}, manifest.spec, changes),
    });
  }
}

function phase(client: Client, key: NamespacedKey, wanted: string) {
  return waitFor(client, ElastiService, key, ({ status }) => status?.phase === wanted, wait);
}

/** Asks a Service as any client does: once, over a connection of its own. */
async function ask(client: Client, key: NamespacedKey, path = "/hostname", withinMs = 60_000) {
  const { spec } = await client.get(Service, key);
  const url = `http://${spec?.clusterIP}:${spec?.ports?.[0]?.port}${path}`;
  const began = performance.now();
  const answer = await fetch(url, {
    headers: { connection: "close" },
    signal: AbortSignal.timeout(withinMs),
  });
  return { status: answer.status, body: await answer.text(), ms: Math.round(performance.now() - began) };
}

test("the chart passes helm's lint, and refuses values that do not fit", () => {
  const chart = join(operator, "chart");
  const run = (...args: string[]) => execFileSync("helm", args, { stdio: ["ignore", "ignore", "ignore"] });
  const render = (value: string) => run("template", "elasti-operator", chart, "--set", value);
  run("lint", "--strict", chart);
  render("serviceMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true");
  expect(() => render("pollingInterval=never")).toThrow();
  expect(() => render("resolver.drainSeconds=3600")).toThrow();
  expect(() => render("resolver.queueLength=10")).toThrow();
});

test.for([kustomize, helm])(
  "installed by $by: the sample sleeps, and a request wakes it",
  {
    timeout: 300_000,
  },
  async (installer) => {
    const { client } = cluster;
    const watched = await cluster.createNamespace(`elasti-${installer.by}`);
    const place: Place = { watched, system: `${watched}-system` };
    const key = { namespace: watched, name: "web" };
    await installer.install(place);
    try {
      await isUp(client, place);
      await applySample(client, watched, "web.yaml", { cooldownPeriod: 5 });
      await phase(client, key, "Asleep");
      expect((await client.get(Deployment, key)).spec?.replicas).toBe(0);
      const { status, body, ms } = await ask(client, key);
      process.stdout.write(`installed by ${installer.by}: a request woke the sample in ${ms} ms\n`);
      expect(status).toBe(200);
      expect(body).toMatch(/^web-/);
      await likeTheOriginals(client, watched);
      await removeAll(client, watched);
      expect((await client.get(Service, key)).spec?.selector).toEqual({ app: "web" });
      const left = await client.list(EndpointSlice, {
        namespace: watched,
        labelSelector: "elasti.truefoundry.com/service",
      });
      expect(left.items).toEqual([]);
    } finally {
      await removeAll(client, watched);
      const began = performance.now();
      await installer.uninstall(place);
      process.stdout.write(`uninstalled in ${Math.round(performance.now() - began)} ms\n`);
    }
  },
);

/**
 * As the original's own tests have it: scaled to zero by hand it is behind the resolver, and with a
 * request it is not any more.
 */
async function likeTheOriginals(client: Client, namespace: string): Promise<void> {
  const key = { namespace, name: "target" };
  const labels = { app: key.name };
  const { spec } = await client.get(Deployment, { namespace, name: "web" });
  const template = { ...spec?.template, metadata: { labels } };
  await client.create(Deployment, {
    metadata: key,
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  } as Parameters<typeof client.create<typeof Deployment>>[1]);
  await client.create(Service, {
    metadata: key,
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
  await client.create(ElastiService, {
    metadata: key,
    spec: {
      service: key.name,
      minTargetReplicas: 1,
      cooldownPeriod: 100,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "deployments", name: key.name },
      triggers: [
        {
          type: "prometheus",
          metadata: {
            query: 'round(sum(rate(requests_total{service="target"}[1m])), 0.001) or vector(0)',
            serverAddress: "http://prometheus-operated.monitoring.svc.cluster.local:9090",
            threshold: "0.01",
          },
        },
      ],
      probeResponse: [
        {
          method: "GET",
          path: { type: "PathPrefix", value: "/healthz" },
          response: { status: 200, body: "ok" },
        },
      ],
    },
  });
  await waitFor(client, ElastiService, key, ({ status }) => status?.mode === "serve", wait);
  await client.patch(Deployment, key, { type: "merge", patch: { spec: { replicas: 0 } } });
  await waitFor(
    client,
    ElastiService,
    key,
    ({ status }) => status?.phase === "Asleep" && status.mode === "proxy",
    wait,
  );
  // The scale did not wait for the node's rules before the pods went, so they may still be about to
  // follow.
  expect(await vi.waitFor(() => ask(client, key, "/healthz/live", 1_000), wait)).toMatchObject({
    status: 200,
    body: "ok",
  });
  expect((await client.get(ElastiService, key)).status?.phase).toBe("Asleep");
  expect(await ask(client, key)).toMatchObject({ status: 200, body: expect.stringMatching(/^target-/) });
  await waitFor(client, ElastiService, key, ({ status }) => status?.mode === "serve", wait);
  // Nothing of it is left in the path: the only EndpointSlices are those of Kubernetes itself.
  const slice = { namespace, labelSelector: `kubernetes.io/service-name=${key.name}` };
  const { items } = await client.list(EndpointSlice, slice);
  expect(items.map(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"])).toEqual([
    "endpointslice-controller.k8s.io",
  ]);
  await client.delete(ElastiService, key);
  await waitForDeletion(client, ElastiService, key, wait);
}
