import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
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

/** The ports of each process of a replica, as the manifests have them. */
const processes = {
  operator: [{ metrics: 8080, health: 8081, internal: 8013 }],
  resolver: [
    { metrics: 8080, health: 8081, internal: 8013 },
    { metrics: 8082, health: 8083, internal: 8014 },
  ],
} as const;

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
  /** Whether a process of a pod takes connections, at its internal port. */
  isServing(pod: PodObject, which: number): Promise<boolean>;
  /** The name of the pod that leads, or led last: it may be gone. */
  leader(): Promise<string>;
  /**
   * Kills a process of a pod with SIGKILL: its only one, or the first or second of a resolver. The
   * kubelet starts another.
   */
  kill(pod: PodObject, which?: number): Promise<void>;
  /** How many processes a replica of a part has. */
  processesOf(part: keyof typeof names): number;
  /** Stops the process of a pod for a while, as on a node without CPU to spare. */
  freeze(pod: PodObject, ms: number): Promise<void>;
  /** Deletes a pod, which ends it with SIGTERM. */
  end(pod: PodObject): Promise<void>;
  /** What requests a process of a resolver holds, or has forwarded. */
  inHandOf(pod: PodObject, which: number): Promise<number>;
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
  const internal = processes.resolver.map((one) => one.internal).join();
  const own = { ...watched, POLLING_INTERVAL: "1", ELASTI_RESOLVER_PORT: internal, ...settings };
  await client.create(Deployment, deployment(system, "operator", 2, "main.js", own));
  const shared = { ...watched, DRAIN_SECONDS: "120", ELASTI_RESOLVER_SHARES_PORTS: "true" };
  await client.create(Deployment, deployment(system, "resolver", resolvers, "resolver-main.js", shared));
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
    kill: (pod, which = 0) => onTask(pod, which, "kill", "--signal", "SIGKILL"),
    isServing: ({ status }, which) =>
      takesConnections(status?.podIP ?? "", processes.resolver[which]?.internal ?? 0),
    processesOf: (part) => processes[part].length,
    freeze: async (pod, ms) => {
      const all = (pod.spec?.containers ?? []).map((_, which) => which);
      const onAll = (verb: string) => Promise.all(all.map((which) => onTask(pod, which, verb)));
      try {
        await onAll("pause");
        await delay(ms);
      } finally {
        await onAll("resume");
      }
    },
    end: async ({ metadata }) => {
      await client.delete(Pod, metadata);
    },
    inHandOf: async ({ status }, which) => {
      const text = await textOf(`http://${status?.podIP}:${processes.resolver[which]?.metrics}/metrics`);
      const names = ["elasti_resolver_queued_count", "elasti_resolver_in_flight_requests"];
      return names.reduce((sum, name) => sum + sumOf(text, name, {}), 0);
    },
    metric: async (part, name, labels = {}) => {
      const pods = await podsOf(part);
      const texts = await Promise.all(
        pods.flatMap(({ status }) =>
          processes[part].map(({ metrics }) => textOf(`http://${status?.podIP}:${metrics}/metrics`)),
        ),
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
  part: keyof typeof names,
  replicas: number,
  program: string,
  settings: Readonly<Record<string, string>>,
) {
  const name = names[part];
  const labels = { app: name };
  const containers = processes[part].map(({ metrics, health, internal }, which) => {
    const env = {
      POD_NAMESPACE: namespace,
      LOG_LEVEL: "info",
      METRICS_BIND_ADDRESS: `:${metrics}`,
      HEALTH_PROBE_BIND_ADDRESS: `:${health}`,
      ...(part === "resolver" && { ELASTI_RESOLVER_PORT: String(internal) }),
      ...settings,
    };
    const probe = (path: string) => ({ httpGet: { path, port: health }, periodSeconds: 1 });
    return {
      name: `main-${which}`,
      image: labImage,
      args: [program],
      env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
      readinessProbe: probe("/readyz"),
      livenessProbe: { ...probe("/healthz"), periodSeconds: 5, failureThreshold: 6 },
      // On a busy machine a share of the CPU that is too small would be what is measured.
      resources: { requests: { cpu: part === "resolver" ? "125m" : "50m", memory: "64Mi" } },
    };
  });
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
          containers,
        },
      },
    },
  };
}

/** Does something to a process of a pod. A load in this process goes on meanwhile. */
async function onTask({ status }: PodObject, which: number, ...verb: readonly string[]): Promise<void> {
  const found = status?.containerStatuses?.find(({ name }) => name === `main-${which}`);
  const id = found?.containerID?.replace("containerd://", "") ?? "";
  const socket = join(dirname(process.env.KUBECONFIG ?? ""), "containerd.sock");
  await promisify(execFile)(lab, [
    "exec",
    "ctr",
    "--address",
    socket,
    "--namespace",
    "k8s.io",
    "task",
    ...verb,
    id,
  ]);
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

/** Whether a port takes connections. */
export async function takesConnections(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 1_000 });
  try {
    return await new Promise((resolve) => {
      socket.on("connect", () => resolve(true));
      for (const event of ["error", "timeout"]) socket.on(event, () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}
