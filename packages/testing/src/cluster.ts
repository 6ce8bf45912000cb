import { randomBytes } from "node:crypto";
import {
  type AnyKind,
  Client,
  ignoreNotFound,
  impersonate,
  isAlreadyExists,
  isNotFound,
  type Transport,
} from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import type { ControlPlane, ControlPlaneOptions } from "@windlass/control-plane";
import type { Manager, ManagerOptions } from "@windlass/runtime";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import type { Backend } from "./backend.ts";
import { type Crd, crdOf, type Installable } from "./definitions.ts";
import { freePorts } from "./free-ports.ts";
import { RecentLog } from "./recent-log.ts";
import { TestClient } from "./test-client.ts";
import { defaultWaitTimeout, embeddedWaitTimeout, waitForCondition, waitForDeletion } from "./wait.ts";
import { WebhookServices, type WebhookTie } from "./webhooks.ts";

/**
 * What a test runs against: the embedded control plane, a real API server of its own, or a cluster
 * that is there already.
 */
export type Flavour = "embedded" | "binaries" | "cluster";

/** Which cluster a test gets. */
export interface ClusterOptions {
  /** @default KUBECONFIG → "cluster", KUBEBUILDER_ASSETS → "binaries", else "embedded" */
  readonly flavour?: Flavour;
  /** Clock, randomness and controllers of an embedded control plane. The others ignore them. */
  readonly embedded?: ControlPlaneOptions;
}

/**
 * An API server for a test, whichever it is: the same test runs on the embedded control plane, on a
 * bare kube-apiserver and on a full cluster. What a test made through it is deleted when it is
 * closed.
 *
 * @example
 * await using cluster = await startCluster();
 * await cluster.install(WebApp);
 * await cluster.run("webapp-operator", (options) => manager(options).add(webapp));
 * const namespace = await cluster.createNamespace();
 * await cluster.client.create(WebApp, { metadata: { namespace, name: "shop" }, spec: { image: "nginx:1.25" } });
 * await waitForCondition(cluster.client, WebApp, { namespace, name: "shop" }, "Ready");
 */
export class TestCluster implements AsyncDisposable {
  readonly flavour: Flavour;
  /** May do everything. Waits that fail through it show what operators logged last. */
  readonly client: Client;
  readonly #log = new RecentLog();
  readonly #backend: Backend;
  readonly #namespaces: string[] = [];
  readonly #definitions = new Set<string>();
  readonly #managers: Manager[] = [];
  readonly #webhookUrls: string[] = [];
  #webhookServices: WebhookServices | undefined;
  #closing: Promise<void> | undefined;

  constructor(flavour: Flavour, backend: Backend) {
    this.flavour = flavour;
    this.#backend = backend;
    this.client = new TestClient(
      { transport: backend.transport(), fieldManager: "windlass-testing", onWarning: () => undefined },
      this.#log,
      flavour === "embedded" ? embeddedWaitTimeout : defaultWaitTimeout,
    );
  }

  /**
   * What operators logged last, a line each. To show it when a test fails: vitest's
   * `onTestFailed(() => console.log(cluster.operatorLog))`, or with `node:test`
   * `t.after(() => t.passed || console.log(cluster.operatorLog))`.
   */
  get operatorLog(): string {
    return String(this.#log);
  }

  /**
   * The embedded control plane, to inject faults and move time. Undefined for the other flavours.
   */
  get controlPlane(): ControlPlane | undefined {
    return this.#backend.controlPlane;
  }

  /**
   * Whether Deployments roll out, namespaces empty and garbage is collected here. A bare API server
   * does none of it.
   */
  get hasControllers(): boolean {
    return this.#backend.hasControllers;
  }

  /** The path of a kubeconfig for the administrator: for kubectl and other programs. */
  kubeconfig(): Promise<string> {
    return this.#backend.kubeconfig();
  }

  /**
   * A transport of its own for another client, with the administrator's rights. Closed with the
   * cluster.
   */
  transport(): Transport {
    return this.#backend.transport();
  }

  /**
   * A client that may do what the service account may, and nothing more: how an operator's role is
   * put to the test. The account is made if it is not there; without a binding it may do next to
   * nothing.
   *
   * @example
   * for (const role of rbacFor([webapp], { name: "webapp", serviceAccount: { namespace, name: "webapp" } })) await create(role);
   * const client = await cluster.clientFor(namespace, "webapp");
   * await cluster.run("webapp", (options) => manager({ ...options, client }).add(webapp));
   */
  async clientFor(namespace: string, serviceAccount: string): Promise<Client> {
    const account = { metadata: { namespace, name: serviceAccount } };
    await this.client.create(ServiceAccount, account).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    const as = impersonate({
      user: `system:serviceaccount:${namespace}:${serviceAccount}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    });
    return this.#clientNamed(serviceAccount, as(this.#backend.transport()));
  }

  /**
   * Starts a manager, and stops it before the cluster goes. `make` is handed options that tie it to
   * this cluster, with no ports, and a log that is shown when a wait fails. It adds its own.
   *
   * @param name The field manager of what it writes.
   */
  async run(name: string, make: (options: ManagerOptions) => Manager): Promise<Manager> {
    const manager = make({
      client: this.#clientNamed(name, this.#backend.transport()),
      log: this.#log.logger(name),
      health: false,
      metrics: false,
    });
    this.#managers.push(manager);
    await manager.start();
    return manager;
  }

  /**
   * What has this cluster's API server call a webhook server, and its configurations installed: in
   * this process where the control plane is embedded, else by a port of this machine, with
   * certificates. A real API server takes up to a second to notice a configuration.
   *
   * @param operator The operator that the server belongs to, as in {@link run}.
   * @example
   * const webhooks = webhookServer({ name: "webapp", ...(await cluster.webhooks("webapp")) }).validate(WebApp, validate);
   * await cluster.run("webapp", (options) => manager(options).add(webapp).add(webhooks));
   */
  async webhooks(operator: string): Promise<WebhookTie> {
    const { controlPlane, hostOfThis } = this.#backend;
    if (controlPlane) {
      this.#webhookServices ??= new WebhookServices(controlPlane);
      const service = { namespace: `${operator}-system` };
      return { install: true, service, attach: this.#webhookServices.attach };
    }
    const host = (await hostOfThis?.()) ?? "127.0.0.1";
    const [port = 0] = await freePorts(1);
    const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
    this.#webhookUrls.push(url);
    return { install: true, url, host, port, service: { namespace: await this.createNamespace(operator) } };
  }

  /**
   * Installs definitions, all at once, and waits until each is served. Those that this cluster had
   * already are left there at the end.
   */
  async install(...definitions: readonly Installable[]): Promise<void> {
    await Promise.all(definitions.map((definition) => this.#install(crdOf(definition))));
  }

  /** Takes definitions away, with all objects of theirs, and waits until they are gone. */
  async uninstall(...definitions: readonly Installable[]): Promise<void> {
    await Promise.all(
      definitions.map(async (definition) => {
        const { name } = crdOf(definition).metadata;
        await this.#remove(CustomResourceDefinition, name);
        this.#definitions.delete(name);
      }),
    );
  }

  async #install(crd: Crd): Promise<void> {
    const { name } = crd.metadata;
    const before = await ignoreNotFound(this.client.get(CustomResourceDefinition, { name }));
    const existed = before !== undefined;
    await this.client.apply(CustomResourceDefinition, crd, { force: true });
    if (!existed) this.#definitions.add(name);
    await waitForCondition(this.client, CustomResourceDefinition, { name }, "Established");
    await this.#waitUntilServed(crd);
  }

  /** A real server says that a definition is established a moment before it serves it. */
  async #waitUntilServed({ spec }: Crd): Promise<void> {
    const deadline = systemClock.monotonic() + servedWithinMs;
    for (const version of spec.versions.filter(({ served }) => served)) {
      const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}?limit=1`;
      for (;;) {
        try {
          await this.client.json({ path });
          break;
        } catch (error) {
          // A conversion webhook may have to be started first: the kind is served, whatever it
          // answers.
          if (!isNotFound(error)) break;
          if (systemClock.monotonic() > deadline) throw error;
        }
        await sleep(systemClock, 50);
      }
    }
  }

  /** A namespace of its own. Deleted, with all in it, when the cluster is closed. */
  async createNamespace(prefix = "test"): Promise<string> {
    const name = `${prefix}-${randomBytes(4).toString("hex")}`;
    await this.client.create(Namespace, { metadata: { name } });
    this.#namespaces.push(name);
    return name;
  }

  /**
   * Stops what was started, and deletes what was made through this cluster. May be called more than
   * once.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await Promise.all(this.#managers.map((manager) => manager.stop()));
      if (this.#backend.shared) {
        await this.#removeWebhooks();
        const definitions = [...this.#definitions];
        await Promise.all(definitions.map((name) => unlessGone(this.#convertAlone(name))));
        await Promise.all(definitions.map((name) => unlessGone(this.#letGo(name))));
        // Namespaces first: what is in them may hold on to a definition.
        await Promise.all(this.#namespaces.map((name) => this.#remove(Namespace, name)));
        await Promise.all(definitions.map((name) => this.#remove(CustomResourceDefinition, name)));
      }
    } finally {
      await this.#backend.close();
    }
  }

  /** The server they name has stopped, and every write that they are called for would fail. */
  async #removeWebhooks(): Promise<void> {
    if (this.#webhookUrls.length === 0) return;
    for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
      const { items } = await this.client.list(kind);
      const ours = items.filter(({ webhooks = [] }) =>
        webhooks.some(({ clientConfig: { url } }) => this.#webhookUrls.some((one) => url?.startsWith(one))),
      );
      await Promise.all(ours.map(({ metadata: { name } }) => this.#remove(kind, name)));
    }
  }

  /**
   * Has a definition's objects read without the webhook that converted them: it was removed, and
   * without it they could not even be deleted.
   */
  async #convertAlone(definition: string): Promise<void> {
    const { spec } = await this.client.get(CustomResourceDefinition, { name: definition });
    if (spec.conversion?.strategy !== "Webhook") return;
    const patch = { spec: { conversion: { strategy: "None", webhook: null } } };
    await this.client.patch(CustomResourceDefinition, { name: definition }, { type: "merge", patch });
  }

  /**
   * Removes the finalizers of all objects of a definition: the operators that set them no longer
   * run.
   */
  async #letGo(definition: string): Promise<void> {
    const { spec } = await this.client.get(CustomResourceDefinition, { name: definition });
    const version = spec.versions.find(({ served }) => served);
    if (!version) return;
    const kind: AnyKind = {
      group: spec.group,
      version: version.name,
      kind: spec.names.kind,
      plural: spec.names.plural,
      scope: spec.scope === "Namespaced" ? "Namespaced" : "Cluster",
    };
    const { items } = await this.client.list(kind);
    const held = items.filter(({ metadata }) => metadata.finalizers !== undefined);
    await Promise.all(
      held.map(async ({ metadata: { name, namespace } }) => {
        const key = namespace === undefined ? { name } : { name, namespace };
        const patch = { metadata: { finalizers: null } };
        await unlessGone(this.client.patch(kind, key, { type: "merge", patch }));
      }),
    );
  }

  async #remove(kind: AnyKind, name: string): Promise<void> {
    await unlessGone(this.client.delete(kind, { name }));
    if (this.hasControllers || kind !== Namespace)
      await waitForDeletion(this.client, kind, { name }, { timeout: goneWithinMs });
  }

  #clientNamed(fieldManager: string, transport: Transport): Client {
    return new Client({ transport, fieldManager, onWarning: () => undefined });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const servedWithinMs = 15_000;

/** A namespace waits for the grace period of its pods, and looks again only half of it later. */
const goneWithinMs = 120_000;

/** Waits for what is done to something, and takes its being gone for done. */
async function unlessGone(done: Promise<unknown>): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Starts, or finds, a cluster for a test. Without options the environment decides, so that one
 * suite runs everywhere:
 *
 * - nothing set: a control plane in this process, ready in some 50 ms, with controllers and a node
 *   that only pretends to run pods
 * - `KUBEBUILDER_ASSETS`: etcd and kube-apiserver from that folder, in some seconds, with no
 *   controllers
 * - `KUBECONFIG`: that cluster, as it is. Others may use it: what the test makes is taken away
 *   again, and nothing else
 *
 * @example
 * await using cluster = await startCluster();
 * const namespace = await cluster.createNamespace();
 */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const flavour = options.flavour ?? flavourFromEnvironment();
  switch (flavour) {
    case "embedded": {
      const { startEmbedded } = await import("./embedded.ts");
      return new TestCluster(flavour, await startEmbedded(options.embedded));
    }
    case "binaries": {
      const { startBinaries } = await import("./binaries.ts");
      return new TestCluster(flavour, await startBinaries());
    }
    case "cluster": {
      const { findCluster } = await import("./existing.ts");
      return new TestCluster(flavour, await findCluster());
    }
  }
}

/** Which flavour the environment asks for. */
export function flavourFromEnvironment(environment: NodeJS.ProcessEnv = process.env): Flavour {
  if (environment.KUBECONFIG) return "cluster";
  return environment.KUBEBUILDER_ASSETS ? "binaries" : "embedded";
}
