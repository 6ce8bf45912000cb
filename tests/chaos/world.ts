import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Authority, createAuthority, type KeyPair } from "@windlass/certificates";
import { Client, kubeconfigFor } from "@windlass/client";
import { type Clock, type Random, seededRandom, sleep, systemClock } from "@windlass/clock";
import {
  type Cache,
  type LeaderElectionOptions,
  type Manager,
  manager,
  silentLogger,
} from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@windlass/runtime/kinds";
import { type Binaries, startBinaries, waitFor } from "@windlass/testing";
import { Gadget, gadgets } from "./gadget.ts";
import { Link } from "./link.ts";
import { ChaosProxy } from "./proxy.ts";

const hour = 3_600_000;

/** An operator in this process, behind a proxy. */
export interface Operator extends AsyncDisposable {
  readonly manager: Manager;
  readonly proxy: ChaosProxy;
  readonly cache: Cache;
}

/** A control plane of its own, and ways to make life hard on it. */
export class ChaosHarness implements AsyncDisposable {
  readonly control: Binaries;
  /** Goes straight to the server, past all proxies. */
  readonly client: Client;
  readonly #folder: string;
  readonly #authority: Authority;
  readonly #certificate: KeyPair;

  private constructor(control: Binaries, folder: string) {
    this.control = control;
    this.#folder = folder;
    this.client = new Client({ transport: control.transport(), fieldManager: "driver" });
    this.#authority = createAuthority({ commonName: "chaos", validFor: hour });
    this.#certificate = this.#authority.issue({
      commonName: "chaos-proxy",
      ipAddresses: ["127.0.0.1"],
      usages: ["server"],
      validFor: hour,
    });
  }

  static async start(): Promise<ChaosHarness> {
    const control = await startBinaries();
    const world = new ChaosHarness(control, await mkdtemp(join(tmpdir(), "windlass-chaos-")));
    const crd = Gadget.crd();
    await world.client.apply(CustomResourceDefinition, crd, { force: true });
    await waitFor(world.client, CustomResourceDefinition, { name: crd.metadata.name }, ({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === "Established" && value === "True"),
    );
    return world;
  }

  /** A proxy, the link to it, and the kubeconfig of the client that is to go through both. */
  async openProxy(): Promise<{ proxy: ChaosProxy; link: Link; kubeconfig: string }> {
    const proxy = await ChaosProxy.start(await this.control.kubeconfig(), this.#certificate);
    const link = await Link.open(Number(new URL(proxy.url).port));
    const server = `https://127.0.0.1:${link.port}`;
    const kubeconfig = join(this.#folder, `${randomBytes(4).toString("hex")}.kubeconfig`);
    const content = kubeconfigFor({ server, ca: this.#authority.certificate, token: "any" });
    await writeFile(kubeconfig, content, { mode: 0o600 });
    return { proxy, link, kubeconfig };
  }

  async openNamespace(): Promise<Population> {
    const name = `chaos-${randomBytes(4).toString("hex")}`;
    await this.client.create(Namespace, { metadata: { name } });
    return new Population(this.client, name);
  }

  async startOperator(
    namespace: string,
    options: { readonly clock?: Clock; readonly leaderElection?: LeaderElectionOptions } = {},
  ): Promise<Operator> {
    const { proxy, link, kubeconfig } = await this.openProxy();
    let cache: Cache | undefined;
    const running = manager({
      kubeconfig,
      namespaces: [namespace],
      health: false,
      metrics: false,
      log: silentLogger,
      gracefulShutdownTimeout: 5_000,
      ...options,
    })
      .add(gadgets)
      .add({
        name: "window",
        stage: "everywhere",
        start: (context) => {
          cache = context.cache;
        },
      });
    await running.start();
    if (!cache) throw new Error("the manager started without its runnables");
    return {
      manager: running,
      proxy,
      cache,
      [Symbol.asyncDispose]: async () => {
        await running.stop();
        await link.close();
        await proxy.close();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.control.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The Gadgets of one namespace as they should be. */
export class Population {
  readonly namespace: string;
  readonly wanted = new Map<string, string>();
  readonly #client: Client;
  readonly #random: Random = seededRandom(42);
  #made = 0;

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.namespace = namespace;
  }

  /** Makes so many more. */
  async grow(count: number): Promise<void> {
    const names = Array.from({ length: count }, () => `gadget-${this.#made++}`);
    const worker = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) await this.#create(name);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }

  /** So many changes, of every sort. */
  async churn(count: number): Promise<void> {
    for (let change = 0; change < count; change++) {
      const name = [...this.wanted.keys()][Math.floor(this.#random.next() * this.wanted.size)];
      const chance = this.#random.next();
      if (name === undefined || chance < 0.25) await this.#create(`gadget-${this.#made++}`);
      else if (chance < 0.45) {
        this.wanted.delete(name);
        await this.#client.delete(Gadget, { namespace: this.namespace, name });
      } else {
        const text = this.#text();
        this.wanted.set(name, text);
        const patch = { spec: { text } };
        await this.#client.patch(Gadget, { namespace: this.namespace, name }, { type: "merge", patch });
      }
    }
  }

  async #create(name: string): Promise<void> {
    const text = this.#text();
    this.wanted.set(name, text);
    await this.#client.create(Gadget, { metadata: { namespace: this.namespace, name }, spec: { text } });
  }

  #text(): string {
    return Buffer.from(this.#random.bytes(8)).toString("hex");
  }

  /**
   * Waits until every Gadget has its child and its status, and nothing else is there.
   *
   * @returns how long that took, in milliseconds
   * @throws Error with what is wrong still, after the time is up.
   */
  async converged(withinMs: number): Promise<number> {
    const start = systemClock.monotonic();
    for (;;) {
      const faults = await this.#faults();
      const tookMs = systemClock.monotonic() - start;
      if (faults.length === 0) return Math.round(tookMs);
      if (tookMs > withinMs)
        throw new Error(
          `not converged after ${Math.round(tookMs)} ms: ${faults.length} faults, such as ${faults[0]}`,
        );
      await sleep(systemClock, 100);
    }
  }

  /** Whether a cache holds exactly what the server does, version by version. */
  async isMirroredBy(cache: Cache): Promise<boolean> {
    const { namespace } = this;
    const versions = (objects: readonly { metadata: { name: string; resourceVersion?: string } }[]) =>
      objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
    for (const kind of [Gadget, ConfigMap] as const) {
      const { items } = await this.#client.list<typeof ConfigMap>(kind as typeof ConfigMap, { namespace });
      const held = cache.list(kind as typeof ConfigMap, { namespace });
      if (versions(items).join() !== versions(held).join()) return false;
    }
    return true;
  }

  async #faults(): Promise<string[]> {
    const { namespace, wanted } = this;
    const [owners, children] = await Promise.all([
      this.#client.list(Gadget, { namespace }),
      this.#client.list(ConfigMap, { namespace }),
    ]);
    const texts = new Map(children.items.map(({ metadata, data }) => [metadata.name, data?.text]));
    const statuses = new Map(owners.items.map(({ metadata, status }) => [metadata.name, status?.text]));
    const faults: string[] = [];
    for (const [name, text] of wanted) {
      if (texts.get(name) !== text) faults.push(`${name}: its child says ${texts.get(name)}, not ${text}`);
      if (statuses.get(name) !== text)
        faults.push(`${name}: its status says ${statuses.get(name)}, not ${text}`);
    }
    for (const name of statuses.keys()) if (!wanted.has(name)) faults.push(`${name} should be gone`);
    for (const name of texts.keys())
      if (!wanted.has(name)) faults.push(`the child of ${name} should be gone`);
    return faults;
  }
}
