import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { applyManifest, type Client, ignoreNotFound, type ObjectOf } from "@windlass/client";
import { type PolicyRule, rbacFor } from "@windlass/runtime";
import {
  Deployment,
  Lease,
  Namespace,
  Pod,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { imageArchive } from "../../../packages/cli/src/image/oci-image.ts";
import { findNode, operatorImage } from "../../../packages/cli/src/image/operator-image.ts";
import { bundleOperator, importIntoLab, lab } from "../../../scripts/packaging/operator-image.ts";
import { ElastiService, OperatorSettings, operator, resolverRules } from "../src/index.ts";

type PodObject = ObjectOf<typeof Pod>;

/** The image of the operator and the resolver. It has Node as its entrypoint. */
export const labImage = "windlass/elasti:lab";
const names = { operator: "elasti-operator", resolver: "elasti-operator-resolver" } as const;
const wait = { timeout: 90_000 };

/**
 * The lab's cluster with two replicas of the operator and some of the resolver in pods, for one
 * namespace alone.
 */
export interface LabEnvironment extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly client: Client;
  /** Where the targets are. */
  readonly namespace: string;
  /** Where the operator and the resolver are. */
  readonly system: string;
  /** The pods of a part that are ready and not about to end, the leader's first. */
  podsOf(part: keyof typeof names): Promise<readonly PodObject[]>;
  /** The name of the pod that leads, or led last: it may be gone. */
  leader(): Promise<string>;
  /** Kills the process of a pod with SIGKILL. The kubelet starts another. */
  kill(pod: PodObject): void;
  /** Stops the process of a pod for a while, as on a node without CPU to spare. */
  freeze(pod: PodObject, ms: number): Promise<void>;
  /** Deletes a pod, which ends it with SIGTERM. */
  end(pod: PodObject): Promise<void>;
  /** What requests a pod of the resolver holds, or has forwarded. */
  inHandOf(pod: PodObject): Promise<number>;
  /** The sum of a metric over all replicas of a part, of the series with these labels. */
  metric(part: keyof typeof names, name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
}

/** How an environment is made. */
export interface LabEnvironmentOptions {
  /** @default 2 */
  readonly resolvers?: number;
  /** Settings of the operator. @default its own, with POLLING_INTERVAL 1 */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Makes an image of the operator and runs it in the cluster of KUBECONFIG, with rights for two
 * namespaces and no others.
 */
export async function labEnvironment(options: LabEnvironmentOptions = {}): Promise<LabEnvironment> {
  const cluster = await startCluster({ flavour: "cluster" });
  const system = `elasti-system-${randomBytes(3).toString("hex")}`;
  const remove = async () => {
    await cluster.close();
    const after = await startCluster({ flavour: "cluster" });
    await after.client.delete(Namespace, { name: system });
    await after.close();
  };
  try {
    return await install(cluster, system, remove, options);
  } catch (error) {
    await remove();
    throw error;
  }
}

async function install(
  cluster: TestCluster,
  system: string,
  remove: () => Promise<void>,
  { resolvers = 2, settings = {} }: LabEnvironmentOptions,
): Promise<LabEnvironment> {
  const { client } = cluster;
  await loadImage();
  await cluster.install(ElastiService);
  // Not one of the cluster's own, which go first: the operator sees its ElastiServices off.
  await client.create(Namespace, { metadata: { name: system } });
  const namespace = await cluster.createNamespace("elasti");
  await grant(client, system, [system, namespace]);
  const watched = { WATCH_NAMESPACES: namespace };
  await client.create(
    Deployment,
    deployment(system, names.operator, 2, "main.js", { ...watched, POLLING_INTERVAL: "1", ...settings }),
  );
  await client.create(
    Deployment,
    deployment(system, names.resolver, resolvers, "resolver-main.js", { ...watched, DRAIN_SECONDS: "120" }),
  );
  for (const name of Object.values(names)) {
    const ports = [
      { name: "internal", port: 8013 },
      ...(name === names.resolver ? [{ name: "proxy", port: 8012 }] : []),
    ];
    const spec = { selector: { app: name }, ports };
    await client.create(Service, { metadata: { namespace: system, name }, spec });
  }
  for (const name of Object.values(names))
    await waitForCondition(client, Deployment, { namespace: system, name }, "Available", "True", wait);
  const leads = () =>
    waitFor(
      client,
      Lease,
      { namespace: system, name: names.operator },
      ({ spec }) => spec?.holderIdentity,
      wait,
    );
  await leads();
  const leader = async () => (await leads()).split("_")[0] ?? "";

  const podsOf: LabEnvironment["podsOf"] = async (part) => {
    const { items } = await client.list(Pod, { namespace: system, labelSelector: `app=${names[part]}` });
    const ready = items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    const first = part === "operator" ? await leader() : undefined;
    return ready.toSorted((a, b) => Number(b.metadata.name === first) - Number(a.metadata.name === first));
  };
  return {
    cluster,
    client,
    namespace,
    system,
    podsOf,
    leader,
    kill: (pod) => onTask(pod, "kill", "--signal", "SIGKILL"),
    freeze: async (pod, ms) => {
      onTask(pod, "pause");
      try {
        await delay(ms);
      } finally {
        onTask(pod, "resume");
      }
    },
    end: async ({ metadata }) => {
      await client.delete(Pod, metadata);
    },
    inHandOf: async ({ status }) => {
      const text = await textOf(`http://${status?.podIP}:8080/metrics`);
      const names = ["elasti_resolver_queued_count", "elasti_resolver_in_flight_requests"];
      return names.reduce((sum, name) => sum + sumOf(text, name, {}), 0);
    },
    metric: async (part, name, labels = {}) => {
      const pods = await podsOf(part);
      const texts = await Promise.all(
        pods.map(({ status }) => textOf(`http://${status?.podIP}:8080/metrics`)),
      );
      return texts.reduce((sum, text) => sum + sumOf(text, name, labels), 0);
    },
    async [Symbol.asyncDispose]() {
      const { items } = await client.list(ElastiService, { namespace });
      // The operator's rights in the namespace go with it, so its ElastiServices must go before.
      await Promise.all(
        items.map(async ({ metadata: { name } }) => {
          // The last test has deleted it, and the operator may be done with it by now.
          await ignoreNotFound(client.delete(ElastiService, { namespace, name }));
          await waitForDeletion(client, ElastiService, { namespace, name }, wait);
        }),
      );
      await remove();
    },
  };
}

async function loadImage(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "elasti-lab-"));
  try {
    const bundle = join(folder, "bundle");
    await bundleOperator("elasti", bundle);
    const made = await operatorImage({ name: labImage, bundle, node: findNode(import.meta.dirname) });
    const archive = join(folder, "image.tar");
    await writeFile(archive, imageArchive(made));
    importIntoLab(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Exactly the rights that the code declares, in these namespaces alone. */
async function grant(client: Client, system: string, namespaces: readonly string[]): Promise<void> {
  for (const name of Object.values(names))
    await client.create(ServiceAccount, { metadata: { namespace: system, name } });
  const { controller } = operator(OperatorSettings.parse({}), {
    find: async () => undefined,
    findResource: async () => undefined,
  });
  const own = rbacFor([controller], {
    name: names.operator,
    namespaces,
    leaderElection: { name: names.operator, namespace: system },
    serviceAccount: { namespace: system, name: names.operator },
  });
  for (const object of own) {
    if (object.kind.startsWith("Cluster"))
      throw new Error(`an operator for some namespaces asks for a ${object.kind}: ${object.metadata.name}`);
    await applyManifest(client, object);
  }
  for (const namespace of namespaces) await bind(client, namespace, names.resolver, system, resolverRules);
}

async function bind(
  client: Client,
  namespace: string,
  name: string,
  system: string,
  rules: readonly PolicyRule[],
): Promise<void> {
  await client.create(Role, { metadata: { namespace, name }, rules: [...rules] });
  await client.create(RoleBinding, {
    metadata: { namespace, name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
    subjects: [{ kind: "ServiceAccount", namespace: system, name }],
  });
}

function deployment(
  namespace: string,
  name: string,
  replicas: number,
  program: string,
  settings: Readonly<Record<string, string>>,
) {
  const labels = { app: name };
  const env = Object.entries({ POD_NAMESPACE: namespace, LOG_LEVEL: "info", ...settings }).map(
    ([variable, value]) => ({ name: variable, value }),
  );
  const probe = (path: string) => ({ httpGet: { path, port: 8081 }, periodSeconds: 1 });
  return {
    metadata: { namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: 150,
          containers: [
            {
              name: "main",
              image: labImage,
              args: [program],
              env,
              readinessProbe: probe("/readyz"),
              livenessProbe: { ...probe("/healthz"), periodSeconds: 5, failureThreshold: 6 },
              // On a busy machine a share of the CPU that is too small would be what is measured.
              resources: { requests: { cpu: name === names.resolver ? "250m" : "50m", memory: "64Mi" } },
            },
          ],
        },
      },
    },
  };
}

/** Does something to the process of a pod. */
function onTask({ status }: PodObject, ...verb: readonly string[]): void {
  const id = status?.containerStatuses?.[0]?.containerID?.replace("containerd://", "") ?? "";
  const socket = join(dirname(process.env.KUBECONFIG ?? ""), "containerd.sock");
  execFileSync(lab, ["exec", "ctr", "--address", socket, "--namespace", "k8s.io", "task", ...verb, id]);
}

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url);
  return await answer.text();
}

function sumOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
    const isMeant = Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`));
    if (isMeant) sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}
