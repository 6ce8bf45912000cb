import { type Authority, loadAuthority } from "@windlass/certificates";
import { type Clock, type Random, systemClock, systemRandom } from "@windlass/clock";
import { apiVersionOf } from "@windlass/kinds";
import { builtinAdmission, quotaAdmission } from "./admission/index.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { expressionReview } from "./admission/policy/expression-review.ts";
import { validatingPolicies } from "./admission/policy/plugin.ts";
import {
  mutatingWebhooks,
  Services,
  type ServiceTarget,
  validatingWebhooks,
  WebhookClient,
  webhookConversion,
} from "./admission/webhooks/index.ts";
import { type ApiServerSettings, type ListenOptions, tokenSettings } from "./api-server-settings.ts";
import {
  type Authorizer,
  alwaysAllow,
  certificateUser,
  createAuthorizer,
  createTokens,
  type KubeconfigUser,
  kubeconfigYaml,
  rolesIn,
  type Tokens,
} from "./auth/index.ts";
import { administrator, administratorPair, newAuthority, openData, servingPair } from "./authority.ts";
import { bootstrap, bootstrapServiceRange } from "./bootstrap.ts";
import { type ControllerChoice, startControllers } from "./controllers/index.ts";
import { type ControllerDependencies, type Running, settled } from "./controllers/loop.ts";
import { Faults } from "./faults/index.ts";
import type { Listener } from "./http/listener.ts";
import { openapi } from "./http/openapi.ts";
import type { ApiRequest, ApiResponse } from "./http/request.ts";
import { ApiServer } from "./http/server.ts";
import { SharedEvents } from "./http/shared-events.ts";
import { subresources } from "./http/subresources.ts";
import { table } from "./http/table.ts";
import { type InProcessTransport, inProcessTransport } from "./in-process.ts";
import { textOf } from "./json.ts";
import { objectsAt } from "./json-fields.ts";
import { builtinKinds, type KindTable } from "./kinds/index.ts";
import { ServerMetrics } from "./metrics/server-metrics.ts";
import { type NodeChoice, type RunningProcesses, SimulatedNodes } from "./node/index.ts";
import { reportPanic } from "./panic.ts";
import { Patterns } from "./patterns/index.ts";
import type { ProcessOptions } from "./processes/index.ts";
import type { Requester } from "./registry/admission.ts";
import { builtinResource } from "./registry/builtin-resource.ts";
import { prepareCustomDefinitions } from "./registry/definition-resource.ts";
import { Definitions } from "./registry/definitions.ts";
import { Registry } from "./registry/registry.ts";
import { ServiceAddresses } from "./registry/service-addresses.ts";
import { ServiceNetwork } from "./registry/service-network.ts";
import type { DataFile } from "./storage/data-file.ts";
import { ObjectIndexes } from "./storage/object-indexes.ts";
import { Store } from "./storage/store.ts";
import { podProxies, podStreams } from "./streams/index.ts";

/** What a control plane runs, keeps and refuses. */
export interface ControlPlaneOptions {
  /** @default the machine's clock */
  readonly clock?: Clock;
  /** Names, uids and addresses come from it. @default the machine's randomness */
  readonly random?: Random;
  /** Which controllers run beside the API server. @default "all" */
  readonly controllers?: ControllerChoice;
  /**
   * The simulated nodes that pods run on, and their scheduler: how many, or which.
   *
   * @default 1; with `controllers: "none"`, "none"
   */
  readonly nodes?: NodeChoice | "none";
  /**
   * Runs a real process of this machine for each container of the pods whose behavior is not set,
   * on an address of its own, so that traffic can flow. Users who may create pods may then run
   * programs as the user that runs the control plane: for development, never for what others can
   * reach.
   *
   * @default pods are simulated
   */
  readonly processes?: boolean | ProcessOptions;
  /** How many past writes can still be watched from. @default 20000 */
  readonly historyLimit?: number;
  /**
   * Keeps everything in this file, so that a later start goes on where this one ends: objects,
   * their versions and uids, the authority and keys behind kubeconfigs and tokens. Survives being
   * killed. @default nothing is kept
   */
  readonly data?: string;
  /** What a real API server gets by flags. @default as a cluster's own has it */
  readonly apiServer?: ApiServerSettings;
  /**
   * Called with errors inside the server.
   *
   * @default written to standard error, and published on the {@link PANIC_CHANNEL}
   */
  readonly onPanic?: (error: unknown, where: string) => void;
}

/** A change of the server's state. */
export interface Write {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** `deployments.apps`, `pods`. */
  readonly resource: string;
  /** The object's name, with its namespace before a slash if it has one. */
  readonly key: string;
  /** The resourceVersion that it got. */
  readonly revision: number;
  /** The object as JSON. */
  readonly json: string;
}

/**
 * A Kubernetes API server and its controllers in this process, for developing and testing
 * operators.
 *
 * @example
 * await using cluster = await ControlPlane.start();
 * const client = new Client({ transport: cluster.connect() });
 */
export class ControlPlane implements AsyncDisposable {
  readonly registry: Registry;
  readonly store: Store;
  readonly tokens: Tokens;
  /** Injects failures, latency and stale reads, to test clients. */
  readonly faults: Faults;
  /** Decides what pods do. */
  readonly node: SimulatedNodes;
  readonly #server: ApiServer;
  readonly #definitions: Definitions;
  readonly #clock: Clock;
  readonly #onPanic: (error: unknown, where: string) => void;
  readonly #random: Random;
  readonly #authorizer: Authorizer;
  readonly #services: Services;
  readonly #webhooks: WebhookClient;
  readonly #running: Running[] = [];
  readonly #addresses: ServiceAddresses;
  #processes: RunningProcesses | undefined;
  #listener: Promise<Listener> | undefined;
  #authority: Authority | undefined;
  #isClosed = false;
  readonly #data: DataFile | undefined;

  private constructor(options: ControlPlaneOptions, data: DataFile | undefined) {
    const clock = options.clock ?? systemClock;
    const random = options.random ?? systemRandom;
    this.#clock = clock;
    this.#onPanic = options.onPanic ?? reportPanic;
    this.#random = random;
    this.#data = data;
    this.store = new Store({
      ...(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit }),
      ...(data ? { journal: data } : {}),
    });
    const settings = options.apiServer ?? {};
    const network = new ServiceNetwork(this.store);
    if (settings.serviceRange !== undefined) network.useRange(settings.serviceRange);
    const kinds = builtinKinds();
    withoutVersions(kinds, settings.disabledVersions ?? []);
    this.registry = new Registry({
      store: this.store,
      kinds,
      clock,
      random,
      patterns: new Patterns(),
      metrics: new ServerMetrics(clock),
      network,
      indexes: new ObjectIndexes(this.store),
      resourceOf: (info) =>
        info.origin === "custom"
          ? this.#definitions.resourceFor(info)
          : prepareCustomDefinitions(builtinResource(info), this.registry.patterns),
    });
    this.#addresses = new ServiceAddresses(this.registry);
    this.#services = new Services(this.store);
    this.#webhooks = new WebhookClient({ clock, services: this.#services });
    this.#definitions = new Definitions(this.registry, webhookConversion(this.#webhooks, random));
    const roles = createAuthorizer(rolesIn(this.store));
    const authorizer = settings.authorization === "AlwaysAllow" ? alwaysAllow(roles) : roles;
    this.#authorizer = authorizer;
    const deps = { registry: this.registry, client: this.#webhooks, authorizer, random };
    const plugins = { store: this.store, clock, random, authorizer };
    const admission = [
      namespaceLifecycle(this.store),
      ...builtinAdmission({
        ...plugins,
        ...(options.controllers === "none" ? {} : { accountPatienceMs: 1_000 }),
      }),
      mutatingWebhooks(deps),
      expressionReview(this.registry.patterns),
      validatingPolicies(deps),
      validatingWebhooks(deps),
      ...quotaAdmission(this.registry),
    ];
    const disabled = new Set(settings.disabledAdmission);
    this.registry.admission.push(...admission.filter(({ name }) => !disabled.has(name)));
    this.tokens = createTokens({
      clock,
      random,
      ...tokenSettings(settings, data?.identity.tokenKey),
      find: (resource, namespace, name) =>
        this.store.get(resource, namespace ? `${namespace}/${name}` : name)?.object,
    });
    this.faults = new Faults({
      registry: this.registry,
      clock,
      random,
      handle: (request) => this.#server.handle(request),
    });
    this.node = new SimulatedNodes(clock, options.nodes === "none" ? undefined : options.nodes);
    this.#server = new ApiServer({
      intercept: this.faults.intercept,
      registry: this.registry,
      tokens: this.tokens,
      authorizer,
      ...(settings.strangers === undefined ? {} : { strangers: settings.strangers }),
      table: table(clock),
      events: new SharedEvents(),
      openapi: openapi(kinds),
      storageBytes: () => data?.bytes,
      subresources: subresources({
        ...this.node.handlers,
        ...podStreams(this.node),
        ...podProxies(this.node),
      }),
      onPanic: (error, request) => this.#onPanic(error, `${request.method} ${request.url}`),
    });
  }

  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const data = options.data === undefined ? undefined : await openData(options.data);
    try {
      return await ControlPlane.#start(options, data);
    } catch (error) {
      data?.close();
      throw error;
    }
  }

  static async #start(options: ControlPlaneOptions, data: DataFile | undefined): Promise<ControlPlane> {
    const plane = new ControlPlane(options, data);
    bootstrap(plane.registry);
    // A real server's history does not go back to its first write either.
    plane.store.compact();
    await plane.#definitions.start();
    const { controllers = "all", nodes = controllers === "none" ? "none" : 1 } = options;
    const deps = {
      registry: plane.registry,
      onPanic: plane.#onPanic,
      authority: () => plane.authority.certificate,
      signer: () => plane.authority,
      authorizer: plane.#authorizer,
      tokens: plane.tokens,
    };
    if (nodes !== "none") plane.#running.push(await plane.#startNodes(deps, options.processes ?? false));
    else if (options.processes)
      throw new TypeError('processes need nodes to run on: leave out nodes: "none"');
    bootstrapServiceRange(
      plane.registry,
      controllers === "all" ? ["networking.k8s.io/service-cidr-finalizer"] : [],
    );
    plane.#addresses.start();
    plane.#running.push(startControllers(deps, controllers));
    return plane;
  }

  async #startNodes(deps: ControllerDependencies, processes: boolean | ProcessOptions): Promise<Running> {
    if (processes === false) return await this.node.start(deps);
    const { claimBlock } = await import("./processes/index.ts");
    const block = await claimBlock(this.#random, rememberedBlock(this.store));
    const { network } = this.registry;
    if (block.services !== undefined) network.useRange(`${block.services}.0.0/16`);
    network.useLoopbackPods(block.kind === "own" ? `${block.pods}.` : block.pods);
    const apiServer = async () => {
      const { hostname, port } = new URL(await this.listen());
      return { host: hostname, port: Number(port) };
    };
    const runtimeDeps = { ...deps, tokens: this.tokens, apiServer };
    this.#processes = await this.node.startProcesses(runtimeDeps, processes === true ? {} : processes, block);
    return this.#processes;
  }

  /**
   * Loads at once what is otherwise loaded when first needed. Without it, the first request of a
   * kind takes longer than the next, and what else happens meanwhile is left to chance: a run that
   * is to be the same each time begins with this.
   */
  static async preload(): Promise<void> {
    const { preload } = await import("./preload.ts");
    await preload();
  }

  /**
   * Resolves once controllers and nodes have nothing left to do but to wait for time to pass. A
   * real cluster has no such moment: a test that should run there too waits for what it wants to
   * see instead.
   */
  async settle(): Promise<void> {
    await settled(this.#running);
  }

  /** Calls the listener after each write, of any client. @returns ends the subscription */
  onWrite(listener: (write: Write) => void): () => void {
    return this.store.subscribeAll(({ type, bucket, entry: { key, revision, json } }) =>
      listener({ type, resource: bucket, key, revision, json }),
    );
  }

  /**
   * Whether controllers and nodes have nothing left to do, at this moment, but to wait for time to
   * pass or for a change.
   */
  get isIdle(): boolean {
    return this.#running.every(({ idle }) => idle);
  }

  /** Answers a request: the whole API behind one function. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    return this.faults.observe(request, await this.#server.handle(request));
  }

  /** A transport for a client in this process. @param user @default the administrator */
  connect(user: Requester = administrator): InProcessTransport {
    return inProcessTransport(async (request) => {
      if (this.#isClosed)
        throw Object.assign(new Error("the control plane is closed"), { code: "ECONNREFUSED" });
      const response = await this.handle(request);
      request.signal.throwIfAborted();
      return response;
    }, user);
  }

  /**
   * Opens the API to other processes, over HTTPS. A second call returns the first one's address.
   */
  async listen(options: ListenOptions = {}): Promise<string> {
    this.#listener ??= this.#listen(options);
    return (await this.#listener).url;
  }

  async #listen({ host, port: asked, serving, clientAuthorities }: ListenOptions): Promise<Listener> {
    const { listen } = await import("./http/listener.ts");
    const authority = clientAuthorities ?? this.authority.certificate;
    const known = this.#data?.identity;
    const listener = await listen({
      // Kubeconfigs from before a restart name the port of then.
      ...(asked === undefined && known?.port !== undefined ? { preferredPort: known.port } : {}),
      ...(asked === undefined ? {} : { port: asked }),
      ...(host === undefined ? {} : { host }),
      ...(serving ?? this.servingPair(host)),
      authority,
      userOf: (der, isChained) => certificateUser(der, { authority, clock: systemClock, isChained }),
      handle: (request) => this.handle(request),
      onError: (error) => this.#onPanic(error, "listening"),
    });
    const port = Number(new URL(listener.url).port);
    try {
      if (known && known.port !== port) this.#data?.identify({ ...known, port });
    } catch (error) {
      await listener.close();
      throw error;
    }
    return listener;
  }

  /**
   * A certificate for the API server, by its own authority.
   *
   * @param host where it listens
   * @default "127.0.0.1"
   */
  servingPair(host = "127.0.0.1"): { readonly certificate: string; readonly key: string } {
    return servingPair(this.authority, host);
  }

  /**
   * The authority behind the server's certificate and its clients'. Peers check dates by the
   * machine's clock, so it does too.
   */
  get authority(): Authority {
    const kept = this.#data?.identity?.authority;
    this.#authority ??= kept
      ? loadAuthority(kept.certificate, kept.key, { clock: systemClock, random: this.#random })
      : newAuthority(this.#random);
    return this.#authority;
  }

  /**
   * A kubeconfig that kubectl and every client library accept. Starts listening if need be.
   *
   * @param user @default the administrator, by client certificate
   */
  async kubeconfig(user?: KubeconfigUser): Promise<string> {
    const server = await this.listen();
    const { authority } = this;
    return kubeconfigYaml({
      server,
      authority: authority.certificate,
      user: user ?? administratorPair(authority),
    });
  }

  /**
   * Says where calls to a Service go, for webhooks that name one: there is no cluster network. A
   * URL is called as the real server would call the Service, so its certificate must be for
   * `name.namespace.svc`; a function is called in this process.
   *
   * @returns takes it back
   */
  bindService(namespace: string, name: string, port: number, target: ServiceTarget): () => void {
    return this.#services.bind({ namespace, name, port }, target);
  }

  /**
   * Forgets history, so that watches from before must list again: what a real server does every few
   * minutes.
   */
  compact(): void {
    this.store.compact();
  }

  get clock(): Clock {
    return this.#clock;
  }

  /**
   * Ends everything: controllers, watches, connections. Clients that go on asking get no answer.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      for (const running of this.#running) running.stop();
      this.faults.dropWatches();
      this.#definitions.stop();
      this.#addresses.stop();
      this.#webhooks.close();
      await this.registry.patterns[Symbol.asyncDispose]();
      await this.#processes?.close();
      await (await this.#listener)?.close();
    } finally {
      this.#data?.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function withoutVersions(kinds: KindTable, versions: readonly string[]): void {
  const gone = new Set(versions);
  for (const kind of Array.from(kinds.all())) {
    if (gone.has(apiVersionOf(kind))) kinds.remove(kind);
  }
}

/** The block of loopback addresses that the nodes had before. */
function rememberedBlock(store: Store): number | undefined {
  for (const { object } of store.entries("nodes")) {
    const address = objectsAt(object, "status", "addresses").find(
      ({ type }) => type === "InternalIP",
    )?.address;
    const [, block] = /^127\.(\d+)\./.exec(textOf(address)) ?? [];
    if (block !== undefined && Number(block) !== 0) return Number(block);
  }
  return undefined;
}
