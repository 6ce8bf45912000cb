import { execFileSync } from "node:child_process";
import { request } from "node:https";
import { join } from "node:path";
import type { Client, ObjectOf } from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Pod,
  Service,
} from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageName, makeImage } from "../../operators/buildkit/scripts/image.ts";
import { BuildKitPool, BuildKitWorker } from "../../operators/buildkit/src/index.ts";
import { badManifests } from "../../operators/buildkit/testing/bad-manifests.ts";
import {
  byHelm,
  byKustomize,
  helm,
  kubectl,
  selectorLabel,
} from "../../operators/buildkit/testing/installations.ts";
import { startRealBuild } from "../../operators/buildkit/testing/lab-build.ts";
import { lab } from "../../scripts/packaging/operator-image.ts";

const operator = join(import.meta.dirname, "..", "..", "operators", "buildkit");
const chart = join(operator, "chart");
const samples = join(operator, "config", "samples");
const suffix = crypto.randomUUID().slice(0, 8);

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster({ flavour: "cluster" });
  execFileSync(join(lab, "..", "images"), ["buildkit"], { stdio: "ignore" });
  await makeImage();
}, 400_000);
afterAll(() => cluster.close());

test("the chart passes helm's lint, and refuses values that do not fit", () => {
  helm("lint", "--strict", chart);
  const render = (value: string) => helm("template", "buildkit-controller", chart, "--set", value);
  render("serviceMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true");
  expect(render("gateway.image=registry.acme.io/gateway:1,api.replicas=3")).toContain(
    'value: "registry.acme.io/gateway:1"',
  );
  expect(() => render("api.replica=3")).toThrow();
  expect(() => render("api.replicas=three")).toThrow();
});

const ways = [
  ["kubectl apply -k", byKustomize(`kustomize-${suffix}`), `kustomize-${suffix}`],
  ["helm install", byHelm(`helm-${suffix}`, `buildkit-chart-${suffix}`), `helm-${suffix}`],
] as const;

describe.each(ways)("%s", (_, installation, label) => {
  test("installs an operator that a client of the API builds on, with no more rights than it declares", async () => {
    const { client } = cluster;
    const started = { timeout: 120_000 };
    const namespace = await cluster.createNamespace("buildkit-install");
    await client.patch(
      Namespace,
      { name: namespace },
      { type: "merge", patch: { metadata: { labels: { [selectorLabel]: label } } } },
    );
    await installation.install();
    try {
      for (const name of ["buildkit-controller", "buildkit-controller-api"]) {
        const key = { namespace: installation.namespace, name };
        await waitForCondition(client, Deployment, key, "Available", "True", started);
      }
      const key = { namespace, name: "my-pool" };
      kubectl(["apply", "--server-side", "-n", namespace, "-f", join(samples, "my-pool.yaml")]);
      // One machine is shared by all: a worker of the sample would want half of it.
      const small = { spec: { resources: { buildkit: { requests: { cpu: "20m", memory: "64Mi" } } } } };
      await client.patch(BuildKitPool, key, { type: "merge", patch: small });
      await waitForCondition(client, BuildKitPool, key, "Ready", "True", started);

      for (const { field, kind, name, spec } of badManifests)
        await expect(client.create(kind, { metadata: { namespace, name }, spec })).rejects.toThrow(field);

      const api = await connectApi(client, installation.namespace, namespace);
      expect(await statusFromPod(client, installation.namespace, key)).toContain("ScaledToZero");
      const allocated = await api("POST", "/api/v1/workers/allocate", {
        poolName: key.name,
        namespace,
        ttl: "10m",
      });
      expect(allocated).toMatchObject({ status: 200, body: { workerName: "my-pool-worker-0" } });
      const { body } = allocated;
      const worker = await client.get(BuildKitWorker, { namespace, name: String(body.workerName) });
      const { spec } = await client.get(Service, key);
      const text = (name: string) => Buffer.from(String(body[name]), "base64").toString("utf8");
      const build = await startRealBuild({
        address: `tcp://${spec?.clusterIP}:1235`,
        serverName: `my-pool.${namespace}.svc`,
        certificate: text("clientCert"),
        key: text("clientKey"),
        trust: text("caCert"),
        podIp: worker.status?.podIP ?? "",
      });
      const workerKey = { namespace, name: worker.metadata.name };
      await waitFor(client, BuildKitWorker, workerKey, ({ status }) => status?.phase === "Running", started);
      await build.end();
      const released = await api("POST", "/api/v1/workers/release", { token: body.token });
      expect(released).toMatchObject({ status: 200, body: { status: "released" } });
      await waitFor(client, BuildKitWorker, workerKey, ({ status }) => status?.phase === "Idle", started);

      await client.delete(BuildKitPool, key);
      await waitForDeletion(client, BuildKitPool, key, started);
      for (const name of ["buildkit-controller", "buildkit-controller-api"]) {
        const log = logOf(installation.namespace, name);
        expect(log).toContain(
          name === "buildkit-controller" ? "became the leader" : "the allocation API is served",
        );
        expect(log).not.toMatch(
          /"level":"(error|fatal)"|forbidden|cannot (get|list|watch|create|update|patch|delete)/i,
        );
      }
    } catch (error) {
      const logs = ["buildkit-controller", "buildkit-controller-api"].map((name) =>
        logOf(installation.namespace, name).slice(-4_000),
      );
      throw new Error(`${String(error)}\n${logs.join("\n")}`, { cause: error });
    } finally {
      await installation.uninstall();
    }
    await waitForDeletion(client, Deployment, {
      namespace: installation.namespace,
      name: "buildkit-controller",
    });
    const crd = { name: "buildkitpools.buildkit.smrt-devops.net" };
    expect(await client.get(CustomResourceDefinition, crd)).toBeDefined();
  }, 400_000);
});

/** What all replicas have logged. */
function logOf(namespace: string, name: string): string {
  const selector = `app.kubernetes.io/name=${name}`;
  return kubectl(["logs", "--namespace", namespace, "--selector", selector, "--tail=-1"]);
}

/**
 * What the command says in a pod beside the pool, which has a token and what to trust mounted as
 * the README shows it.
 */
async function statusFromPod(
  client: Client,
  installed: string,
  pool: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const key = { namespace: pool.namespace, name: "client" };
  const token = { path: "token", audience: "buildkit-controller", expirationSeconds: 3_600 };
  await client.create(Pod, {
    metadata: key,
    spec: {
      restartPolicy: "Never",
      serviceAccountName: "builder",
      volumes: [
        { name: "token", projected: { sources: [{ serviceAccountToken: token }] } },
        { name: "ca", configMap: { name: `${pool.name}-ca` } },
      ],
      containers: [
        {
          name: "client",
          image: imageName,
          args: ["cli-main.js", "status", "--pool", pool.name, "--namespace", pool.namespace],
          env: [
            { name: "BKCTL_TLS_CA_CERT", value: "/etc/buildkit-ca/ca.crt" },
            { name: "BKCTL_ENDPOINT", value: `https://buildkit-controller-api.${installed}.svc:8082` },
          ],
          volumeMounts: [
            { name: "token", mountPath: "/var/run/secrets/buildkit" },
            { name: "ca", mountPath: "/etc/buildkit-ca" },
          ],
        },
      ],
    },
  });
  const isOver = ({ status }: ObjectOf<typeof Pod>) => /Succeeded|Failed/.test(status?.phase ?? "");
  await waitFor(client, Pod, key, isOver, { timeout: 60_000 });
  return kubectl(["logs", "--namespace", key.namespace, key.name]);
}

interface Response {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API over its Service, for a ServiceAccount of a namespace, trusting what it publishes. */
async function connectApi(client: Client, installed: string, namespace: string) {
  kubectl(["create", "serviceaccount", "builder", "--namespace", namespace]);
  const audience = ["--audience", "buildkit-controller"];
  const token = kubectl(["create", "token", "builder", "--namespace", namespace, ...audience]).trim();
  const published = await client.get(ConfigMap, { namespace: installed, name: "buildkit-ca" });
  const { spec } = await client.get(Service, { namespace: installed, name: "buildkit-controller-api" });
  const ask = (method: string, path: string, body: object): Promise<Response> => {
    const text = JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: spec?.clusterIP,
          port: 8_082,
          servername: `buildkit-controller-api.${installed}.svc`,
          ca: published.data?.["ca.crt"],
          method,
          path,
          agent: false,
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            "content-length": Buffer.byteLength(text),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const answer = Buffer.concat(chunks).toString("utf8");
            resolve({
              status: response.statusCode ?? 0,
              body: JSON.parse(answer || "{}") as Response["body"],
            });
          });
        },
      );
      sent.once("error", reject);
      sent.end(text);
    });
  };
  /**
   * Asks again while a worker is being started, and while no server answers: the node may not know
   * the Service yet.
   */
  return async (method: string, path: string, body: object): Promise<Response> => {
    const giveUpAt = systemClock.monotonic() + 120_000;
    const job = { jobId: crypto.randomUUID(), ...body };
    for (;;) {
      const answer = await ask(method, path, job).catch((error: unknown) => {
        if (systemClock.monotonic() > giveUpAt) throw error;
      });
      if (answer && (answer.status !== 202 || systemClock.monotonic() > giveUpAt)) return answer;
      await sleep(systemClock, 250);
    }
  };
}
