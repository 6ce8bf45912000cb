import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { type Clock, type Duration, milliseconds, sleep, systemClock } from "@windlass/clock";
import { RelayGroup } from "@windlass/relay";
import { type Logger, Registry, silentLogger } from "@windlass/runtime";
import { type PathProof, pathProof } from "../path-proof.ts";
import { type ClientViews, viewsOfKernel } from "./client-views.ts";
import type { ClientConnection, ClientTimeouts, DoubtedClient } from "./connection-host.ts";
import { decide } from "./decide.ts";
import { HoldBudget } from "./hold/budget.ts";
import { HeldBytes } from "./hold/held-bytes.ts";
import { usualSlowStart } from "./hold/load.ts";
import { Copies } from "./http1/copies.ts";
import { Listener, type ListenerHost, type ListenerRoute } from "./listener.ts";
import { ResolverMetrics } from "./metrics.ts";
import type { RequestView } from "./request.ts";
import { Service, type ServiceContext, type ServicePort } from "./service.ts";
import { serviceIn } from "./service-host.ts";
import {
  type ServiceKey,
  type ServiceTraffic,
  serviceKey,
  type TargetLookup,
  type Waker,
} from "./targets.ts";
import { JoinedClient } from "./tcp/joined-client.ts";
import { LostPeers, type Unconfirmed } from "./upstream/lost-peers.ts";

/** How many requests wait, and how long clients may take. */
export interface ResolverLimits {
  /** Requests that wait, of all services. @default 50_000 */
  readonly held?: number;
  /**
   * Bytes of their heads and bodies, of all services. One service has at most half of them.
   *
   * @default 268_435_456
   */
  readonly heldBytes?: number;
  /** How long one may wait, of a service that does not say. @default "600s" */
  readonly hold?: Duration;
  /**
   * Between two requests of a client. Longer than load balancers before it wait, so that they are
   * the ones to close.
   *
   * @default "620s"
   */
  readonly idle?: Duration;
  /** For the head of a request. @default "30s" */
  readonly head?: Duration;
}

/** What a resolver is made of. */
export interface ResolverOptions {
  readonly targets: TargetLookup;
  readonly waker: Waker;
  /** A port that takes requests of all services, by their Host. @default none */
  readonly sharedPort?: number;
  /**
   * A field that has the host instead, where proxies before the resolver put it.
   *
   * @default Host itself
   */
  readonly hostHeader?: string;
  /** @default "cluster.local" */
  readonly clusterDomain?: string;
  /** The address to listen on. @default all */
  readonly host?: string;
  /**
   * Whether other processes may listen on its ports at the same time, on Linux: connections are
   * spread over them, and those that come after one was killed go to the others. @default false
   */
  readonly sharesPorts?: boolean;
  /** By what the operator recognizes this resolver. @default that of the usual key */
  readonly pathProof?: PathProof;
  /** @default ResolverLimits' own */
  readonly limits?: ResolverLimits;
  /** @default one of its own */
  readonly metrics?: Registry;
  /** @default nothing is logged */
  readonly log?: Logger;
  /** @default the machine's clock */
  readonly clock?: Clock;
  /**
   * Which connections wait in vain for their peer to confirm what it was sent.
   *
   * @default what the kernel reports
   */
  readonly unconfirmed?: Unconfirmed;
  /**
   * What is known of clients that are not read from.
   *
   * @default what the kernel reports
   */
  readonly clientViews?: ClientViews;
}

/** How a resolver leaves. */
export interface ResolverDrain {
  /**
   * Whether new connections are still sent here: as long as they are, they are taken.
   *
   * @default it is not known
   */
  readonly getsConnections?: () => boolean;
  /**
   * How long connections are still taken after that, and after the last one that came, until every
   * node sends them elsewhere: one without CPU to spare may be late with its rules. @default "5s"
   */
  readonly acceptFor?: Duration;
  /** How long all of it may take. @default "10m" */
  readonly within?: Duration;
}

/** A port that the resolver listens on, or is about to. */
interface OpenedPort {
  readonly listener: Listener;
  readonly serves: string;
  isOpen: boolean;
}

const READ_BYTES = 64 * 1024;
/** How often a resolver that leaves checks whether connections are still sent to it. */
const LOOK_MS = 100;
/** How often clients are looked at that take too long. */
const SWEEP_MS = 1_000;

/**
 * Takes the requests of services that may be asleep, holds them while their target wakes, and gives
 * them to its endpoints.
 *
 * - A port of the resolver stands for one port of one Service, so it does not matter what a client
 *   says its host is.
 * - It answers from memory: targets and endpoints come from watches.
 * - It never refuses a service that is awake: clients that still come here are served.
 */
export class Resolver implements AsyncDisposable {
  readonly #options: ResolverOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: ResolverMetrics;
  readonly #context: ServiceContext;
  readonly #timeouts: ClientTimeouts;
  readonly #pathProof: PathProof;
  readonly #services = new Map<ServiceKey, Service>();
  readonly #listeners = new Map<number, OpenedPort>();
  readonly #connections = new Set<ClientConnection>();
  readonly #tunnels: RelayGroup<ServiceKey>;
  readonly #joined = new Set<JoinedClient>();
  readonly #heldBytes: HeldBytes;
  readonly #copies = new Copies();
  readonly #lostPeers: LostPeers;
  readonly #unsubscribe: () => void;
  #cancelSweep: () => void;
  #isLooking = false;
  #state: "open" | "draining" = "open";
  /** When a client last connected. */
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #emptied: (() => void) | undefined;

  /**
   * @throws Error if the shared port cannot be had. Ports of services that cannot be had are
   *   logged, and tried again.
   */
  static async start(options: ResolverOptions): Promise<Resolver> {
    const resolver = new Resolver(options);
    if (options.sharedPort !== undefined) await resolver.#listenShared(options.sharedPort);
    await resolver.#syncListeners();
    return resolver;
  }

  private constructor(options: ResolverOptions) {
    const { limits = {}, targets } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLogger;
    this.#pathProof = options.pathProof ?? pathProof();
    this.#timeouts = {
      idleMs: milliseconds(limits.idle ?? "620s", "resolver: limits.idle"),
      headMs: milliseconds(limits.head ?? "30s", "resolver: limits.head"),
    };
    this.#metrics = new ResolverMetrics(options.metrics ?? new Registry(), () => this.traffic());
    this.#tunnels = new RelayGroup({ clock: this.#clock });
    this.#heldBytes = new HeldBytes(limits.heldBytes ?? 256 * 1024 * 1024);
    this.#lostPeers = new LostPeers(this.#clock, options.unconfirmed);
    this.#context = {
      clock: this.#clock,
      waker: options.waker,
      budget: new HoldBudget(limits.held ?? 50_000),
      holdMs: milliseconds(limits.hold ?? "600s", "resolver: limits.hold"),
      slowStart: usualSlowStart,
      readBuffer: Buffer.allocUnsafeSlow(READ_BYTES),
      lostPeers: this.#lostPeers,
    };
    for (const { namespace, service } of targets.all()) this.#sync(serviceKey(namespace, service));
    this.#unsubscribe = targets.onChange((key) => {
      this.#sync(key);
      void this.#syncListeners();
    });
    this.#cancelSweep = this.#clock.schedule(SWEEP_MS, this.#sweep);
  }

  /** Why it should be sent no connections; undefined if it should. */
  fault(): string | undefined {
    return this.#state === "open" ? this.#options.targets.fault() : "shutting down";
  }

  /** What it did for a service, and does; undefined if it does not front it. */
  trafficOf(key: ServiceKey): ServiceTraffic | undefined {
    const service = this.#services.get(key);
    return service && this.#trafficOf(service);
  }

  /** What it did for each service, and does. */
  traffic(): readonly ServiceTraffic[] {
    return [...this.#services.values()].map((service) => this.#trafficOf(service));
  }

  /**
   * Which ports it listens on, by what they serve: `namespace/service:port`, or `*` for the shared
   * one.
   */
  ports(): ReadonlyMap<string, number> {
    return new Map([...this.#listeners].map(([port, { serves }]) => [serves, port]));
  }

  /**
   * Leaves: is not ready from now on, soon takes no more connections, lets those end that wait or
   * are served, and cuts what is left at the deadline. Resolves when no connection is left.
   */
  async drain({ getsConnections, acceptFor = "5s", within = "10m" }: ResolverDrain = {}): Promise<void> {
    const acceptMs = milliseconds(acceptFor, "drain: acceptFor");
    const withinMs = milliseconds(within, "drain: within");
    this.#state = "draining";
    const deadline = this.#clock.monotonic() + withinMs;
    // The operator, which writes the EndpointSlices, may be away for a while: a listener that is
    // closed before would refuse connections.
    while (getsConnections?.() && this.#clock.monotonic() < deadline) await sleep(this.#clock, LOOK_MS);
    const sentUntil = this.#clock.monotonic();
    for (;;) {
      // What has come to a process without CPU is taken before it counts what came last.
      await setImmediate();
      const now = this.#clock.monotonic();
      const closesAt = Math.min(deadline, Math.max(sentUntil, this.#acceptedAt) + acceptMs);
      if (now >= closesAt) break;
      await sleep(this.#clock, closesAt - now);
    }
    this.#closeListeners();
    const leftMs = Math.max(0, deadline - this.#clock.monotonic());
    const cancel = this.#clock.schedule(leftMs, () => void this.#cutAll());
    for (const connection of this.#connections) connection.leave();
    // There is none for a moment where the last one turns out to be of another kind.
    while (this.#connections.size > 0)
      await new Promise<void>((resolve) => {
        this.#emptied = resolve;
      });
    await this.#tunnels.drain({
      within: Math.max(0, deadline - this.#clock.monotonic()),
      reason: shuttingDown,
    });
    cancel();
    this.#end();
  }

  /** Leaves at once, even with clients connected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = "draining";
    this.#closeListeners();
    await this.#cutAll();
    this.#end();
  }

  #trafficOf(service: Service): ServiceTraffic {
    const isOpen = (port: number) => port === 0 || this.#listeners.get(port)?.isOpen === true;
    return service.traffic(service.target.ports.every(({ listenPort }) => isOpen(listenPort)));
  }

  /** Brings a service in line with what is known of it. */
  #sync(key: ServiceKey): void {
    const { targets } = this.#options;
    const target = targets.find(key);
    const known = this.#services.get(key);
    if (!target) {
      known?.close();
      this.#services.delete(key);
      return;
    }
    const wasHandedBack = known?.isHandedBack ?? false;
    const service = known ?? new Service(target, this.#metrics.of(target), this.#context);
    this.#services.set(key, service);
    service.update(target, targets);
    if (service.isHandedBack && !wasHandedBack) this.#handBack(service);
  }

  /** Asks the clients of a service to connect again. */
  #handBack(service: Service): void {
    for (const connection of this.#connections) connection.handBack(service);
  }

  async #syncListeners(): Promise<void> {
    if (this.#state !== "open") return;
    const wanted = new Map<number, { readonly serves: string; readonly route: ListenerRoute }>();
    for (const { namespace, service, ports } of this.#options.targets.all())
      for (const { port, listenPort } of ports) {
        const key = serviceKey(namespace, service);
        // The number stands for the port: its name, and what is spoken on it, may change.
        const current = () => this.#options.targets.find(key)?.ports.find((one) => one.port === port);
        const portOf = () => this.#services.get(key)?.port(current()?.name ?? "");
        const protocolOf = () => current()?.protocol ?? "auto";
        if (listenPort > 0)
          wanted.set(listenPort, {
            serves: `${key}:${port}`,
            route: { protocolOf, portOf, isByName: false },
          });
      }
    for (const [port, { listener, serves }] of this.#listeners)
      if (serves !== sharedName && wanted.get(port)?.serves !== serves) {
        listener.close();
        this.#listeners.delete(port);
      }
    const opening = [...wanted].filter(([port]) => !this.#listeners.has(port));
    await Promise.all(opening.map(([port, { serves, route }]) => this.#listen(port, serves, route)));
  }

  async #listen(port: number, serves: string, route: ListenerRoute): Promise<void> {
    const listener = new Listener(
      route,
      this.#hostFor(({ host }) => route.portOf(host)),
    );
    const opened: OpenedPort = { listener, serves, isOpen: false };
    this.#listeners.set(port, opened);
    try {
      await listener.listen({ port, host: this.#options.host, isShared: this.#options.sharesPorts });
      opened.isOpen = true;
    } catch (error) {
      // The port may be another's that is just leaving. The next change, or sweep, tries again.
      this.#listeners.delete(port);
      this.#log.error({ port, serves, error: String(error) }, "cannot listen on a service's port");
    }
  }

  /** Takes requests of all services, by the host that they name. */
  async #listenShared(port: number): Promise<void> {
    const { hostHeader, host, sharesPorts } = this.#options;
    const portOf = (name: string | undefined) => this.#named(name ?? "");
    const name = hostHeader?.toLowerCase();
    const listener = new Listener(
      { protocolOf: () => "auto", portOf, isByName: true },
      this.#hostFor((request) => portOf((name && request.header(name)) ?? request.host)),
    );
    const chosen = await listener.listen({ port, host, isShared: sharesPorts });
    this.#listeners.set(chosen, { listener, serves: sharedName, isOpen: true });
  }

  /** The port of a Service that a host names. Without a number, it is the Service's first. */
  #named(host: string): ServicePort | undefined {
    const named = serviceIn(host, this.#options.clusterDomain ?? "cluster.local");
    const service = named && this.#services.get(serviceKey(named.namespace, named.service));
    const ports = service?.target.ports ?? [];
    const found = ports.find(({ port }) => port === named?.port) ?? ports[0];
    return found && service?.port(found.name);
  }

  #hostFor(portOf: (request: RequestView) => ServicePort | undefined): ListenerHost {
    return {
      clock: this.#clock,
      heldBytes: this.#heldBytes,
      copies: this.#copies,
      isDraining: () => this.#state === "draining",
      decide: (request) => {
        const port = portOf(request);
        if (!port) return { do: "fail", failure: { why: "unknown-service" } };
        return decide(port, request, this.#pathProof);
      },
      malformed: ({ fault }) => this.#metrics.malformed(fault),
      tunnel: (port, client, upstream, ended) => {
        const { service } = port;
        this.#lostPeers.watch(upstream);
        const joined = new JoinedClient(client);
        this.#joined.add(joined);
        void this.#tunnels.join(service.key, client, upstream).ended.then(() => {
          this.#joined.delete(joined);
          ended();
        });
      },
      opened: (connection) => void this.#connections.add(connection),
      accepted: () => {
        this.#acceptedAt = this.#clock.monotonic();
      },
      closed: (connection) => {
        this.#connections.delete(connection);
        if (this.#connections.size === 0) this.#emptied?.();
      },
    };
  }

  readonly #sweep = (): void => {
    for (const connection of this.#connections) {
      connection.enforce(this.#timeouts);
      if (this.#state === "draining") connection.leave();
    }
    this.#lookAtClients().catch((error: unknown) => {
      this.#log.error({ error: String(error) }, "cannot look at the kernel's connections");
    });
    void this.#syncListeners();
    this.#cancelSweep = this.#clock.schedule(SWEEP_MS, this.#sweep);
  };

  /** Asks the kernel about clients that may have left, or read on, without Node telling. */
  async #lookAtClients(): Promise<void> {
    if (this.#isLooking) return;
    const doubted: (readonly [DoubtedClient, Socket])[] = [];
    for (const clients of [this.#connections, this.#joined])
      for (const client of clients) if (client.inDoubt) doubted.push([client, client.inDoubt]);
    if (doubted.length === 0) return;
    this.#isLooking = true;
    const { clientViews = viewsOfKernel } = this.#options;
    const views = await clientViews(doubted.map(([, socket]) => socket)).finally(() => {
      this.#isLooking = false;
    });
    if (!views) return;
    // It may have been read from since.
    for (const [client, socket] of doubted)
      if (!socket.destroyed && client.inDoubt === socket) client.seen(views.get(socket));
  }

  async #cutAll(): Promise<void> {
    for (const service of this.#services.values()) service.refuseAll("shutting-down");
    for (const connection of this.#connections) connection.destroy();
    await this.#tunnels.drain({ within: 0, reason: shuttingDown });
  }

  #closeListeners(): void {
    for (const { listener } of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  #end(): void {
    this.#cancelSweep();
    this.#lostPeers.stop();
    this.#unsubscribe();
    for (const service of this.#services.values()) service.close();
  }
}

const sharedName = "*";
const shuttingDown = new Error("the resolver is shutting down");
