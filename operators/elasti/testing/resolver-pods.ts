import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ignoreNotFound, type ObjectOf } from "@windlass/client";
import { manager } from "@windlass/runtime";
import { Deployment, EndpointSlice, Lease, Pod, Service } from "@windlass/runtime/kinds";
import { freePorts, type TestCluster, waitFor } from "@windlass/testing";
import { ElastiService, OperatorSettings, operator } from "../src/index.ts";
import { resolverSliceName } from "../src/service/names.ts";

type PodObject = ObjectOf<typeof Pod>;

/** Where both processes of a replica report. */
const internalPorts = [8013, 8014] as const;
const name = "elasti-operator-resolver";
const wait = { timeout: 60_000 };

/** What one of an operator's replicas runs. */
export interface RunningOperator {
  /** Whether it has a connection to a replica of the resolver. */
  knows(pod: PodObject): boolean;
  stop(): Promise<void>;
}

/**
 * Replicas of the resolver in pods whose containers are processes of this machine, two in each, and
 * operators in this process.
 */
export class ResolverPods {
  readonly #cluster: TestCluster;
  readonly #system: string;
  readonly #wakePort: number;
  /** Where targets are made. */
  readonly namespace: string;

  private constructor(cluster: TestCluster, system: string, namespace: string, wakePort: number) {
    this.#cluster = cluster;
    this.#system = system;
    this.namespace = namespace;
    this.#wakePort = wakePort;
  }

  /** Starts so many replicas, and waits until all are ready. */
  static async start(cluster: TestCluster, replicas: number): Promise<ResolverPods> {
    await cluster.install(ElastiService);
    const system = await cluster.createNamespace("elasti-system");
    const namespace = await cluster.createNamespace("elasti");
    const [wakePort = 0] = await freePorts(1);
    const pods = new ResolverPods(cluster, system, namespace, wakePort);
    const { client } = cluster;
    const labels = { app: name };
    const containers = await Promise.all(internalPorts.map((port, index) => pods.#container(port, index)));
    await client.create(Service, {
      metadata: { namespace: system, name },
      spec: { selector: labels, ports: [{ name: "internal", port: internalPorts[0] }] },
    });
    await client.create(Deployment, {
      metadata: { namespace: system, name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            terminationGracePeriodSeconds: 1,
            containers,
          },
        },
      },
    });
    await waitFor(
      client,
      Deployment,
      { namespace: system, name },
      ({ status }) => status?.readyReplicas === replicas,
      wait,
    );
    return pods;
  }

  async #container(port: number, index: number) {
    const [metricsPort, healthPort] = [8080 + 2 * index, 8081 + 2 * index];
    const main = join(import.meta.dirname, "..", "src", "resolver-main.ts");
    return {
      name: `resolver-${index + 1}`,
      image: "windlass/elasti:dev",
      command: [process.execPath, main],
      env: Object.entries({
        KUBECONFIG: await this.#cluster.kubeconfig(),
        POD_NAMESPACE: this.#system,
        ELASTI_OPERATOR_URL: `http://127.0.0.1:${this.#wakePort}`,
        ELASTI_RESOLVER_PORT: String(port),
        ELASTI_RESOLVER_SHARES_PORTS: "true",
        METRICS_BIND_ADDRESS: `:${metricsPort}`,
        HEALTH_PROBE_BIND_ADDRESS: `:${healthPort}`,
        DRAIN_SECONDS: "1",
        LOG_LEVEL: "warn",
      }).map(([variable, value]) => ({ name: variable, value })),
      readinessProbe: { httpGet: { path: "/readyz", port: healthPort }, periodSeconds: 1 },
    };
  }

  /**
   * Starts a replica of the operator.
   *
   * @param leads it does not if another one, which was killed, still has the lease
   */
  async runOperator(leads: boolean): Promise<RunningOperator> {
    const { client } = this.#cluster;
    const settings = OperatorSettings.parse({
      POD_NAMESPACE: this.#system,
      ELASTI_OPERATOR_PORT: String(this.#wakePort),
      ELASTI_RESOLVER_PORT: internalPorts.join(),
      POLLING_INTERVAL: "1",
      // Longer than a client of a load uses a connection.
      SETTLE_SECONDS: "2",
    });
    const { controller, everywhere, links } = operator(settings, client.discovery);
    const lease = { namespace: this.#system, name: "elasti-operator" };
    // To the microsecond.
    const now = `${new Date().toISOString().slice(0, -1)}000Z`;
    if (!leads)
      await client.create(Lease, {
        metadata: lease,
        spec: {
          holderIdentity: "killed",
          leaseDurationSeconds: 3_600,
          acquireTime: now,
          renewTime: now,
        },
      });
    const started = await this.#cluster.run("elasti-operator", (options) => {
      const leaderElection = { leaderElection: { ...lease, identity: "waits" } };
      const running = manager({ ...options, ...(leads ? {} : leaderElection) }).add(controller);
      for (const part of everywhere) running.add(part);
      return running;
    });
    return {
      knows: ({ status }) => links.isUp(status?.podIP ?? ""),
      stop: async () => {
        await started.stop();
      },
    };
  }

  /** The replicas that are ready, by name. */
  async ready(): Promise<readonly PodObject[]> {
    const { items } = await this.#cluster.client.list(Pod, {
      namespace: this.#system,
      labelSelector: `app=${name}`,
    });
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    return ready.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
  }

  /** Kills a process of a replica with SIGKILL. Resolves once it is gone. */
  async kill({ status }: PodObject, which: 0 | 1): Promise<void> {
    const marks = [`WINDLASS_POD_IP=${status?.podIP}`, `ELASTI_RESOLVER_PORT=${internalPorts[which]}`];
    const found = (await processes()).filter(({ environment }) =>
      marks.every((mark) => environment.includes(mark)),
    );
    if (found.length === 0) throw new Error(`no process has ${marks.join(" and ")}`);
    for (const { pid } of found) process.kill(pid, "SIGKILL");
    for (const { pid } of found) while (await isThere(pid)) await delay(1);
  }

  /** The addresses of the resolver that a Service leads to. */
  async leadsTo(service: string): Promise<readonly string[]> {
    const key = { namespace: this.namespace, name: resolverSliceName(service) };
    const slice = await ignoreNotFound(this.#cluster.client.get(EndpointSlice, key));
    return (slice?.endpoints ?? []).flatMap(({ addresses }) => addresses);
  }
}

async function processes() {
  const pids = (await readdir("/proc")).filter((one) => /^\d+$/.test(one)).map(Number);
  const all = await Promise.all(
    pids.map(async (pid) => ({
      pid,
      // It may have ended, or be another user's.
      environment: (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")).split("\0"),
    })),
  );
  return all.filter(({ pid }) => pid !== process.pid);
}

/** It is there until its parent has taken note, which is after all that it had open was closed. */
async function isThere(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")) !== "";
}
