import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { applyManifest, type Client, kubeconfigFor } from "@windlass/client";
import { sleep, systemClock, systemRandom } from "@windlass/clock";
import { type InputOf, rbacFor } from "@windlass/runtime";
import {
  ClusterRole,
  ClusterRoleBinding,
  Lease,
  Namespace,
  Pod,
  Secret,
  Service,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForDeletion } from "@windlass/testing";
import { build } from "rolldown";
import { embedFiles } from "../../../scripts/packaging/embedded-files.ts";
import { lab, makeImage } from "../scripts/image.ts";
import { apiRights } from "../src/api/index.ts";
import { CredentialStore } from "../src/credentials.ts";
import { apiName, BuildKitPool, leaseName, type Pool, type PoolName } from "../src/index.ts";
import { kinds } from "../src/kinds.fixture.ts";
import { controllersWith } from "../src/operator.ts";
import { textData } from "../src/secret-data.ts";
import type { ReplicaInput } from "./replica-process.ts";
import { SimulatedPods } from "./simulated-pods.ts";

/** An image of its own: another that is made meanwhile does not take its place. */
export const labImage = "windlass/buildkit:lab-test";

type PoolSpec = NonNullable<InputOf<typeof BuildKitPool>["spec"]>;

/** What a request was answered with. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What may be said of a request besides its path. */
export interface Ask {
  readonly token?: string;
  readonly body?: object;
  /** @default each in turn, and the next one where one is down */
  readonly replica?: number;
  readonly signal?: AbortSignal;
}

interface Replica {
  /** Whether it is meant to run: one that ends by itself is started again, as the kubelet does. */
  isWanted: boolean;
  port: number;
  readonly process: ChildProcess;
  log: string;
}

/** An allocation as the API gives it, in PEM. */
export interface Allocated {
  readonly pool: PoolName;
  readonly token: string;
  readonly workerName: string;
  readonly expiresAt: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** What the pool's cache backends are to clients: for import and for export. */
  readonly cacheOptions: { readonly import: readonly string[]; readonly export: readonly string[] };
}

/** This machine, as pods see it. */
export const labHost = "198.18.254.1";
/** On namespaces: whose pools these are, for several operators may be tested on one cluster. */
const operatorLabel = "windlass.test/operator";
const startedWithinMs = 60_000;
const answeredWithinMs = 180_000;

/**
 * The operator on the cluster of KUBECONFIG: replicas in processes of their own, which hold the
 * rights of the roles that are made for it and no others, and can be killed. Gateways and workers
 * are real pods.
 */
export class LabOperator implements AsyncDisposable {
  readonly cluster: TestCluster;
  /** The operator's own namespace. */
  readonly namespace: string;
  readonly #folder: string;
  readonly #kubeconfig: string;
  readonly #replicas: Replica[] = [];
  readonly #namespaces = new Set<string>();
  readonly #tokens = new Map<string, string>();
  readonly #pods: SimulatedPods | undefined;
  #turn = 0;
  #ca = "";

  private constructor(cluster: TestCluster, namespace: string, folder: string, pods?: SimulatedPods) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.#folder = folder;
    this.#kubeconfig = join(folder, "kubeconfig");
    this.#pods = pods;
  }

  /**
   * @param on The cluster of KUBECONFIG with real buildkitd; or a bare etcd and kube-apiserver,
   *   whose pods only say that they run.
   */
  static async start(replicas = 3, on: "cluster" | "binaries" = "cluster"): Promise<LabOperator> {
    const cluster = await startCluster({ flavour: on });
    if (on === "cluster") {
      execFileSync(join(lab, "..", "images"), ["buildkit"], { stdio: "ignore" });
      await makeImage(labImage);
    }
    await cluster.install(...kinds);
    const namespace = await cluster.createNamespace("buildkit-system");
    const folder = await mkdtemp(join(tmpdir(), "buildkit-lab-"));
    const pods = on === "binaries" ? new SimulatedPods(cluster.client) : undefined;
    const operator = new LabOperator(cluster, namespace, folder, pods);
    await operator.#label(namespace);
    await Promise.all([operator.#grant(), operator.#bundle()]);
    await Promise.all(Array.from({ length: replicas }, (_, index) => operator.#startReplica(index)));
    await operator.takeTrust();
    return operator;
  }

  /** Trusts the authorities that there are now. */
  async takeTrust(): Promise<void> {
    this.#ca = await waitFor(
      this.client,
      Secret,
      { namespace: this.namespace, name: "buildkit-ca" },
      (secret) => textData(secret)["ca.crt"],
      { timeout: startedWithinMs },
    );
  }

  get client(): Client {
    return this.cluster.client;
  }

  get replicas(): number {
    return this.#replicas.length;
  }

  /** The replicas' processes, by their ids. */
  get processes(): readonly number[] {
    return this.#replicas.flatMap(({ process: { pid } }) => pid ?? []);
  }

  /** What each replica has logged. */
  logs(): readonly string[] {
    return this.#replicas.map(({ log }) => log);
  }

  /** A namespace that the operator looks after. */
  async createNamespace(): Promise<string> {
    const name = await this.cluster.createNamespace("buildkit-builds");
    await this.#label(name);
    this.#namespaces.add(name);
    return name;
  }

  /** A pool with small workers, once clients can connect. */
  async createPool(namespace: string, name: string, spec: PoolSpec = {}): Promise<Pool> {
    const key = { namespace, name };
    const resources = { buildkit: { requests: { cpu: "10m", memory: "32Mi" } } };
    const small: PoolSpec = { profile: "privileged", resources, gateway: { drainTimeout: "60s" }, ...spec };
    await this.client.create(BuildKitPool, { metadata: key, spec: small });
    const pool = await this.pool(key, ({ status }) => status?.gateway?.ready);
    if (!this.#pods) await this.#reach(key);
    return pool;
  }

  /**
   * Waits until this machine reaches a pool's gateway by its Service. A connection that was begun
   * before the node knew the Service is remembered by its kernel as leading nowhere, so each
   * attempt is another one, and short.
   */
  async #reach(key: PoolName): Promise<void> {
    const { spec } = await this.client.get(Service, key);
    const giveUpAt = systemClock.monotonic() + startedWithinMs;
    for (;;) {
      const socket = connect({ host: spec?.clusterIP ?? "", port: spec?.ports?.[0]?.port ?? 0 });
      try {
        await once(socket, "connect", { signal: AbortSignal.timeout(500) });
        return;
      } catch (error) {
        if (systemClock.monotonic() > giveUpAt) throw error;
        await sleep(systemClock, 50);
      } finally {
        socket.destroy();
      }
    }
  }

  pool(key: PoolName, until: (pool: Pool) => unknown, timeout = 120_000): Promise<Pool> {
    return waitFor(this.client, BuildKitPool, key, (pool) => (until(pool) ? pool : undefined), { timeout });
  }

  async deletePool(key: PoolName, timeout = 120_000): Promise<void> {
    await this.client.delete(BuildKitPool, key);
    await waitForDeletion(this.client, BuildKitPool, key, { timeout });
  }

  /** Deletes all pools, and waits until nothing is left of them. */
  async deletePools(): Promise<void> {
    const { items } = await this.client.list(BuildKitPool, {});
    const own = items.filter(({ metadata }) => this.#namespaces.has(metadata.namespace));
    await Promise.all(own.map(({ metadata }) => this.deletePool(metadata, 180_000)));
  }

  /** Kills a container of a pod from the node, as the kernel does when memory runs out. */
  async killContainer(
    key: { readonly namespace: string; readonly name: string },
    name: string,
  ): Promise<void> {
    const { status } = await this.client.get(Pod, key);
    const found = status?.containerStatuses?.find((one) => one.name === name)?.containerID;
    const id = found?.replace("containerd://", "") ?? "";
    const socket = join(dirname(await this.cluster.kubeconfig()), "containerd.sock");
    const ctr = ["ctr", "--address", socket, "--namespace", "k8s.io"];
    execFileSync(lab, ["exec", ...ctr, "task", "kill", "--signal", "SIGKILL", id]);
  }

  /** Which replica leads. */
  async leader(): Promise<number> {
    const key = { namespace: this.namespace, name: leaseName };
    const holder = await waitFor(this.client, Lease, key, ({ spec }) => spec?.holderIdentity, {
      timeout: startedWithinMs,
    });
    return Number(/^replica-(\d+)_/.exec(holder)?.[1]);
  }

  /** Ends a replica as `kill -9` does. */
  async kill(index: number): Promise<void> {
    const replica = this.#replica(index);
    const { process: child } = replica;
    replica.isWanted = false;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Ends a replica as Kubernetes does, and waits until it has. */
  async stop(index: number): Promise<void> {
    const replica = this.#replica(index);
    const { process: child } = replica;
    replica.isWanted = false;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  }

  /** Starts a replica again that has ended, and waits until it serves. */
  async revive(index: number): Promise<void> {
    await this.#startReplica(index);
  }

  /**
   * Asks the API. A replica that is down, or goes down meanwhile, is passed over, as a Service
   * does.
   */
  async ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    if (ask.replica !== undefined) return await this.#askOne(ask.replica, method, path, ask);
    const giveUpAt = systemClock.monotonic() + answeredWithinMs;
    for (;;) {
      const index = this.#turn++ % this.#replicas.length;
      try {
        return await this.#askOne(index, method, path, ask);
      } catch (error) {
        ask.signal?.throwIfAborted();
        if (systemClock.monotonic() > giveUpAt) throw error;
        await sleep(systemClock, 50);
      }
    }
  }

  /** A token of a service account, meant for the operator. Any pool of its namespace admits it. */
  async token(namespace: string, account = "ci"): Promise<string> {
    const key = `${namespace}/${account}`;
    const known = this.#tokens.get(key);
    if (known !== undefined) return known;
    await this.client
      .apply(ServiceAccount, { metadata: { namespace, name: account } }, { fieldManager: "test" })
      .catch(() => undefined);
    const token = await this.tokenFor(namespace, account, ["buildkit-controller"]);
    this.#tokens.set(key, token);
    return token;
  }

  /** A token of a service account, with other audiences. */
  async tokenFor(namespace: string, account: string, audiences: readonly string[]): Promise<string> {
    const made = (await this.client.json({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { audiences, expirationSeconds: 7_200 },
      },
    })) as { readonly status: { readonly token: string } };
    return made.status.token;
  }

  /**
   * Allocates a worker, waiting for one for as long as it takes.
   *
   * @throws Error with the answer of the API.
   */
  async allocate(pool: PoolName, own: Readonly<Record<string, unknown>> = {}): Promise<Allocated> {
    const token = await this.token(pool.namespace);
    const body = {
      poolName: pool.name,
      namespace: pool.namespace,
      jobId: crypto.randomUUID(),
      wait: "25s",
      ...own,
    };
    for (;;) {
      const answer = await this.ask("POST", "/api/v1/workers/allocate", { token, body });
      if (answer.status === 200) return allocatedOf(pool, answer);
      // A replica that stops says so, and another is asked.
      if (answer.status !== 202 && answer.status !== 503)
        throw new Error(`allocate: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
  }

  async release({ pool, token }: Allocated): Promise<Answer> {
    const caller = await this.token(pool.namespace);
    return await this.ask("POST", "/api/v1/workers/release", { token: caller, body: { token } });
  }

  /** The metrics of a replica. */
  async metrics(index: number): Promise<string> {
    const port = [...this.#replica(index).log.matchAll(/metrics on (\d+)/g)].at(-1)?.[1];
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  }

  /** Where the API is, for programs in pods: this machine, as they see it. */
  get endpoints(): readonly { readonly host: string; readonly port: number }[] {
    return this.#replicas.map(({ port }) => ({ host: labHost, port }));
  }

  /** What signs the certificate of the API. */
  get ca(): string {
    return this.#ca;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deletePools().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    await Promise.all(this.#replicas.map((_, index) => this.stop(index)));
    for (const kind of [ClusterRole, ClusterRoleBinding])
      for (const { metadata } of (await this.client.list(kind)).items)
        if (metadata.name.startsWith(this.namespace))
          await this.client.delete(kind, { name: metadata.name }).catch(() => undefined);
    await this.#pods?.[Symbol.asyncDispose]();
    await this.cluster.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #replica(index: number): Replica {
    const replica = this.#replicas[index];
    if (!replica) throw new RangeError(`there is no replica ${index}`);
    return replica;
  }

  async #label(namespace: string): Promise<void> {
    const patch = { metadata: { labels: { [operatorLabel]: this.namespace } } };
    await this.client.patch(Namespace, { name: namespace }, { type: "merge", patch });
  }

  /**
   * Makes the operator's account with the roles that its parts ask for, and a kubeconfig that has
   * no other rights.
   */
  async #grant(): Promise<void> {
    const { namespace, client } = this;
    // The API's name: pools grant it what it needs of their Secrets.
    const account = { namespace, name: apiName };
    await client.create(ServiceAccount, { metadata: account });
    const credentials = new CredentialStore({
      operatorNamespace: namespace,
      clock: systemClock,
      random: systemRandom,
    });
    const parts = controllersWith(credentials, { namespace, gatewayImage: labImage });
    const roles = rbacFor([...parts, apiRights], {
      name: namespace,
      namespaces: { labelSelector: this.#selector },
      leaderElection: { name: leaseName, namespace },
      serviceAccount: account,
    });
    for (const role of roles) await applyManifest(client, role);
    const { clusters } = JSON.parse(
      execFileSync("kubectl", ["config", "view", "--raw", "--minify", "-o", "json"], {
        encoding: "utf8",
        env: { ...process.env, KUBECONFIG: await this.cluster.kubeconfig() },
      }),
    ) as { clusters: [{ cluster: { server: string; "certificate-authority-data": string } }] };
    const { server, "certificate-authority-data": ca } = clusters[0].cluster;
    const token = await this.tokenFor(account.namespace, account.name, []);
    await writeFile(
      this.#kubeconfig,
      kubeconfigFor({ server, ca: Buffer.from(ca, "base64").toString(), token }),
      { mode: 0o600 },
    );
  }

  /** Bundled, as the operator is shipped: replicas that are killed are back sooner. */
  async #bundle(): Promise<void> {
    await writeFile(join(this.#folder, "package.json"), '{ "type": "module" }\n');
    await build({
      input: join(import.meta.dirname, "replica-process.ts"),
      platform: "node",
      plugins: [embedFiles()],
      output: { file: join(this.#folder, "replica.js"), format: "esm", codeSplitting: false },
      logLevel: "warn",
    });
  }

  get #selector(): string {
    return `${operatorLabel}=${this.namespace}`;
  }

  async #startReplica(index: number): Promise<void> {
    // Clients know it by the port that it had before.
    const port = this.#replicas[index]?.port ?? 0;
    const input: ReplicaInput = {
      namespace: this.namespace,
      gatewayImage: labImage,
      identity: `replica-${index}_${crypto.randomUUID()}`,
      port,
      askEvery: "1s",
      admins: [`system:serviceaccount:${this.namespace}:boss`],
      labelSelector: this.#selector,
      isSimulated: this.#pods !== undefined,
    };
    const program = join(this.#folder, "replica.js");
    const child = spawn(process.execPath, [program, JSON.stringify(input)], {
      env: { ...process.env, KUBECONFIG: this.#kubeconfig, NODE_ENV: "production" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const log = this.#replicas[index]?.log ?? "";
    const replica: Replica = { isWanted: true, port, process: child, log };
    this.#replicas[index] = replica;
    child.once("exit", () => {
      if (!replica.isWanted) return;
      this.#startReplica(index).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    });
    const from = replica.log.length;
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        replica.log += chunk;
      });
    const giveUpAt = systemClock.monotonic() + startedWithinMs;
    for (;;) {
      const found = /listening on (\d+)/.exec(replica.log.slice(from))?.[1];
      if (found !== undefined) {
        replica.port = Number(found);
        return;
      }
      if (child.exitCode !== null || systemClock.monotonic() > giveUpAt)
        throw new Error(`replica ${index} did not start:\n${replica.log.slice(-4_000)}`);
      await sleep(systemClock, 50);
    }
  }

  #askOne(index: number, method: string, path: string, { token, body, signal }: Ask): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: this.#replica(index).port,
          method,
          path,
          ca: this.#ca,
          agent: false,
          servername: `buildkit-controller-api.${this.namespace}.svc`,
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
          },
          ...(signal ? { signal } : {}),
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("error", reject);
          response.once("close", () => {
            if (!response.complete) reject(new Error("the answer was cut"));
          });
          response.once("end", () => {
            const whole = Buffer.concat(chunks).toString();
            const parsed = whole.startsWith("{") ? (JSON.parse(whole) as Answer["body"]) : {};
            resolve({ status: response.statusCode ?? 0, body: parsed });
          });
        },
      );
      sent.once("error", reject);
      sent.end(text);
    });
  }
}

/** @throws TypeError for an answer that is not an allocation. */
export function allocatedOf(pool: PoolName, { body }: Answer): Allocated {
  const text = (name: string) => {
    const value = body[name];
    if (typeof value !== "string") throw new TypeError(`the answer has no ${name}`);
    return value;
  };
  const pem = (name: string) => Buffer.from(text(name), "base64").toString();
  return {
    pool,
    token: text("token"),
    workerName: text("workerName"),
    expiresAt: text("expiresAt"),
    ca: pem("caCert"),
    certificate: pem("clientCert"),
    key: pem("clientKey"),
    cacheOptions: (body.cacheOptions ?? { import: [], export: [] }) as Allocated["cacheOptions"],
  };
}
