import { hostname } from "node:os";
import type { Client } from "@windlass/client";
import { type Clock, milliseconds, type Random, systemClock, systemRandom, uuid } from "@windlass/clock";
import type { Cache } from "../cache/index.ts";
import { type Controller, isController } from "../controller/controller.ts";
import { ControllerRun } from "../controller/controller-run.ts";
import { IndexTable } from "../controller/indexes.ts";
import { type ControllerSettings, settings } from "../controller/settings.ts";
import type { Logger } from "../logging/logger.ts";
import { controllerMetrics } from "../metrics/controller-metrics.ts";
import { electionMetrics } from "../metrics/manager-metrics.ts";
import { Registry } from "../metrics/registry.ts";
import { messageOf } from "../reconcile/errors.ts";
import { Events } from "../reconcile/events.ts";
import type { ReconcilerDependencies } from "../reconcile/run.ts";
import { openTelemetry } from "../reconcile/tracing.ts";
import { cachedKinds, openCache, scopeOf } from "./caching.ts";
import { compete, competeInThread } from "./compete.ts";
import { type Connection, openConnection } from "./connection.ts";
import { closedFence, type Fence } from "./fence.ts";
import { type HealthCheck, HealthChecks, ping } from "./health.ts";
import { alwaysLeading, type Leadership } from "./leadership.ts";
import { LiveParts } from "./live.ts";
import { electionRules, type ManagerOptions } from "./options.ts";
import { Outage } from "./outage.ts";
import { serveProbes } from "./probes.ts";
import { runAsProcess } from "./process.ts";
import type { Runnable, Stage } from "./runnable.ts";
import { type StageParts, startStage } from "./stages.ts";
import { type Pulse, StallWatch } from "./stall.ts";
import { Terms } from "./terms.ts";

/** What can be added to a manager. A function is a runnable that starts when this replica leads. */
export type Addable = Controller | Runnable | Runnable["start"];

/**
 * Runs controllers and whatever else an operator consists of, in the right order, and stops them in
 * the reverse one.
 *
 * # Flow
 * 1. Probes and metrics listen, so that a slow start can be watched.
 * 2. Webhooks are served.
 * 3. Caches fill.
 * 4. Runnables of every replica start.
 * 5. Leader election begins; standbys have full caches.
 * 6. Controllers start, each as soon as its own kinds are there: a kind that the server does not
 *    have delays its own controllers alone.
 *
 * # Guarantees
 * - A replica that has lost the lease sends no more writes: they are refused with `FencedError`,
 *   even in the middle of a reconcile, and those that have no answer yet are abandoned.
 * - However it stops, in time or not, it no longer leads, and cannot write, when `stop` and `run`
 *   resolve.
 * - On losing the lease the controllers stop and the replica goes back to standing by.
 * - Nothing that a reconciler, mapping, predicate or source throws ends the process.
 */
export interface Manager extends AsyncDisposable {
  /** Adds a controller or runnable. Before the start. */
  add(what: Addable): Manager;
  /** Adds a named check to `/healthz`: failing it has the kubelet restart the process. */
  addHealthCheck(name: string, check: HealthCheck): Manager;
  /** Adds a named check to `/readyz`. */
  addReadyCheck(name: string, check: HealthCheck): Manager;
  /**
   * Starts, and resolves when everything runs that can run without leading.
   *
   * @throws KubeconfigError without a usable configuration; TransportError or ApiError if no server
   *   answers, or none that takes the credentials; PortError if a port is taken; RunnableError if a
   *   webhook server, or what runs everywhere, cannot start.
   */
  start(): Promise<void>;
  /** Stops in order, within the grace period. May be called at any time, and more than once. */
  stop(): Promise<void>;
  /**
   * Gives the process over: starts, waits for the signal, SIGTERM or SIGINT, and stops. A second
   * signal ends the process at once. Unhandled rejections are logged and counted instead
   * of ending the process. If it cannot start, one line at level fatal says why and what to do, and
   * the process ends with code 1; use `start` to catch the error instead.
   */
  run(options?: { readonly signal?: AbortSignal }): Promise<void>;
  readonly registry: Registry;
  /** Once started. */
  readonly ports: { readonly health?: number; readonly metrics?: number };
  readonly isLeading: boolean;
}

/**
 * A manager. It does nothing until started.
 *
 * @example
 * await manager({ leaderElection: { name: "webapp-operator" } }).add(webapp).run();
 */
export function manager(options: ManagerOptions = {}): Manager {
  return new ManagerRun(options);
}

/** What it takes to compete for the lease. */
interface CampaignParts {
  readonly connection: Connection;
  readonly log: Logger;
  readonly identity: string;
  readonly outage: Outage;
  /**
   * Of this thread, for the one that renews the lease; undefined under a handed-in clock, where
   * there is none.
   */
  readonly pulse: Pulse | undefined;
}

/**
 * A write without an answer is in the server's hands for this long at most: API servers give up a
 * request after a minute.
 */
const UNANSWERED_MS = 60_000;

/** What all controllers depend on. */
type SharedDependencies = Omit<ReconcilerDependencies, "metrics">;

class ManagerRun implements Manager {
  readonly registry = new Registry();
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #controllers: ControllerSettings[] = [];
  readonly #indexes = new IndexTable();
  readonly #runnables: Runnable[] = [];
  readonly #healthz = new HealthChecks("/healthz");
  readonly #readyz = new HealthChecks("/readyz");
  /** What to undo, the last first. */
  readonly #started = new LiveParts();
  readonly #events: Events[] = [];
  #terms: Terms | undefined;
  #connection: Connection | undefined;
  #leadership: Leadership | undefined;
  readonly #stopSignal = new AbortController();
  #ports: { health?: number; metrics?: number } = {};
  #log: Logger | undefined;
  #state: "new" | "starting" | "running" | "stopping" | "stopped" = "new";
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#healthz.add("ping", ping);
    this.#readyz.add("manager", () =>
      this.#state === "running" ? undefined : this.#state === "stopping" ? "stopping" : "starting",
    );
  }

  get ports() {
    return this.#ports;
  }

  get isLeading(): boolean {
    return this.#leadership?.isLeading ?? false;
  }

  add(what: Addable): Manager {
    if (this.#state !== "new")
      throw new Error("a manager takes controllers and runnables only before it is started");
    if (isController(what)) {
      if (this.#controllers.some((one) => one.name === what.name))
        throw new Error(`there is already a controller named "${what.name}"; give one of them another name`);
      this.#indexes.add(what.name, what[settings].indexes);
      this.#controllers.push(what[settings]);
    } else if (typeof what === "function")
      this.#runnables.push({ name: what.name || "runnable", start: what });
    else this.#runnables.push(what);
    return this;
  }

  addHealthCheck(name: string, check: HealthCheck): Manager {
    this.#healthz.add(name, check);
    return this;
  }

  addReadyCheck(name: string, check: HealthCheck): Manager {
    this.#readyz.add(name, check);
    return this;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") throw new Error("a manager can be started once");
    this.#state = "starting";
    this.#starting = this.#start();
    try {
      await this.#starting;
      if (this.#state === "starting") this.#state = "running";
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  run({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const isStopping = () => this.#stopping !== undefined;
    const log = () => this.#log;
    return runAsProcess(
      {
        start: () => this.start(),
        stop: () => this.stop(),
        registry: this.registry,
        get isStopping() {
          return isStopping();
        },
        get log() {
          return log();
        },
      },
      signal,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(): Promise<void> {
    const { signal: stop } = this.#stopSignal;
    const log = this.#options.log ?? (await (await import("../logging/pino-logger.ts")).pinoLogger());
    this.#log = log;
    const tracing = this.#options.tracing ?? (await openTelemetry());
    stop.throwIfAborted();
    await this.#serveProbes(log);
    const stalls = this.#watchForStalls(log);
    const outage = new Outage(this.#clock, log);
    const fence = this.#fence();
    const { registry } = this;
    const parts = { log, fence, registry, clock: this.#clock, random: this.#random, outage };
    const connection = await openConnection(this.#options, parts);
    this.#connection = connection;
    this.#started.add("connection", () => connection.close());
    await connection.greet(stop);
    const cache = this.#openCache(connection, log, outage);
    const identity = this.#identity();
    const shared = {
      cache,
      sharedCache: cache,
      informer: this.#informers(cache),
      isCached: cachedKinds(this.#controllers),
      clock: this.#clock,
      random: this.#random,
      log,
      tracing,
      registry,
      isServerOut: () => outage.isOn,
      ...(stalls ? { observer: stalls } : {}),
    };
    const dependenciesWith = (client: Client): SharedDependencies => {
      const events = this.#openEvents(client, log, identity);
      return { ...shared, client, events };
    };
    const everywhere = dependenciesWith(connection.open);
    const leading = dependenciesWith(connection.fenced);
    await this.#startStage("webhook", everywhere);
    const opened = this.#openControllers({ everywhere, leading });
    await this.#waitForCaches(cache, log);
    await this.#startStage("everywhere", everywhere);
    for (const { controller, open } of opened)
      if (controller.everywhere) this.#started.addController(open, log);
    this.#readyz.add("leader-election", () => this.#leadership?.fault ?? this.#terms?.fault);
    const terms = new Terms(log, this.#clock, (live, term) => {
      void startStage(
        "leader",
        this.#runnables,
        this.#stageParts(leading, live, AbortSignal.any([term, stop])),
      );
      for (const { controller, open } of opened) if (!controller.everywhere) live.addController(open, log);
    });
    this.#terms = terms;
    await this.#compete({ connection, log, identity, outage, pulse: stalls?.pulse }, terms);
    stop.throwIfAborted();
  }

  #serveProbes(log: Logger): Promise<void> {
    return serveProbes(this.#options, {
      healthz: this.#healthz,
      readyz: this.#readyz,
      registry: this.registry,
      log,
      onListening: (what, server) => {
        this.#ports = { ...this.#ports, [what]: server.port };
        this.#started.add(`${what} server`, () => server.close());
      },
    });
  }

  /**
   * Undefined under a handed-in clock, which knows no stalls: it moves when the event loop turns.
   */
  #watchForStalls(log: Logger): StallWatch | undefined {
    if (this.#clock !== systemClock) return undefined;
    const stalls = new StallWatch(log);
    const unwatch = stalls.start();
    this.#started.add("stall watch", () => Promise.resolve(unwatch()));
    return stalls;
  }

  /** The fence of the current leader. */
  #fence(): Fence {
    const current = () => this.#leadership?.fence ?? closedFence;
    return {
      get isOpen() {
        return current().isOpen;
      },
      get closing() {
        return current().closing;
      },
    };
  }

  #openEvents(client: Client, log: Logger, instance: string): Events {
    const events = new Events({ client, clock: this.#clock, random: this.#random, log, instance });
    this.#events.push(events);
    this.#started.add("events", () => events.close());
    return events;
  }

  #openCache(connection: Connection, log: Logger, outage: Outage): Cache {
    const { cache, stop } = openCache(this.#options, {
      source: connection.open,
      registry: this.registry,
      clock: this.#clock,
      random: this.#random,
      log,
      isServerOut: () => outage.isLikely,
    });
    for (const { fieldManager } of this.#controllers) cache.trackFieldManager(fieldManager);
    this.#started.add("cache", stop);
    return cache;
  }

  #informers(cache: Cache): SharedDependencies["informer"] {
    const { scope: defaultScope, release } = scopeOf(this.#options.namespaces, cache);
    this.#started.add("namespaces", () => Promise.resolve(release()));
    return (kind, scope = {}) =>
      this.#indexes.equip(kind, cache.informer(kind, { ...defaultScope, ...scope }));
  }

  #openControllers(shared: {
    readonly everywhere: SharedDependencies;
    readonly leading: SharedDependencies;
  }) {
    const opened = this.#controllers.map((controller) => {
      const metrics = controllerMetrics(this.registry, controller.name, controller.concurrency);
      const dependencies = { ...shared[controller.everywhere ? "everywhere" : "leading"], metrics };
      return { controller, open: new ControllerRun(controller, dependencies, this.registry) };
    });
    for (const { open } of opened)
      this.#started.add(`informers of ${open.name}`, () => Promise.resolve(open.close()));
    this.#readyz.add("caches", () => {
      const missing = opened.filter(({ open }) => !open.hasSynced).map(({ open }) => open.name);
      return missing.length === 0 ? undefined : `not yet synced: ${missing.join(", ")}`;
    });
    return opened;
  }

  async #waitForCaches(cache: Cache, log: Logger): Promise<void> {
    try {
      await cache.waitForSync(this.#stopSignal.signal);
    } catch (error) {
      if (this.#stopSignal.signal.aborted) throw error;
      log.error(
        { error: messageOf(error) },
        "going on without the kinds that are missing; their controllers start when they appear",
      );
    }
  }

  async #compete({ connection, log, identity, outage, pulse }: CampaignParts, terms: Terms): Promise<void> {
    const { leaderElection } = this.#options;
    const metrics = electionMetrics(this.registry, leaderElection?.name ?? "none");
    const handlers = {
      onSlowRenewal: metrics.renewedSlowly,
      onLeading: () => {
        metrics.led(true);
        terms.begin();
      },
      onLost: () => {
        metrics.led(false);
        terms.end();
      },
    };
    if (!leaderElection) {
      this.#leadership = alwaysLeading(handlers);
      return;
    }
    const rules = electionRules(leaderElection, identity);
    const lease = {
      name: leaderElection.name,
      namespace:
        leaderElection.namespace ?? process.env.POD_NAMESPACE ?? connection.access?.namespace ?? "default",
    };
    const { access, open: client } = connection;
    const options = { rules, lease, log, isServerOut: () => outage.isOn };
    this.#leadership =
      access && pulse
        ? await competeInThread(
            { ...options, access, pulse: pulse.memory, signal: this.#stopSignal.signal },
            handlers,
          )
        : compete({ ...options, client, clock: this.#clock, random: this.#random }, handlers);
  }

  /** @throws RunnableError if one does not start; the reason of the stop if that came meanwhile. */
  async #startStage(stage: Exclude<Stage, "leader">, dependencies: SharedDependencies): Promise<void> {
    const { signal: stop } = this.#stopSignal;
    await startStage(stage, this.#runnables, this.#stageParts(dependencies, this.#started, stop));
    stop.throwIfAborted();
  }

  #stageParts(dependencies: SharedDependencies, live: LiveParts, stop: AbortSignal): StageParts {
    const isLeading = () => this.isLeading;
    return { dependencies, live, stop, readyz: this.#readyz, registry: this.registry, isLeading };
  }

  async #stop(): Promise<void> {
    const { gracefulShutdownTimeout = "30s" } = this.#options;
    const timeoutMs = milliseconds(gracefulShutdownTimeout, "manager: gracefulShutdownTimeout");
    this.#state = "stopping";
    this.#stopSignal.abort(new Error("the manager was stopped while it was starting"));
    const abort = new AbortController();
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    // Reconciles get most of the time to end by themselves; the rest is for those that must be
    // told.
    const cancels = [
      this.#clock.schedule(timeoutMs * 0.8, () => abort.abort(new Error("the manager is stopping"))),
      this.#clock.schedule(timeoutMs, () => resolve("late")),
    ];
    const outcome = await Promise.race([this.#stopInOrder(abort.signal), late]);
    for (const cancel of cancels) cancel();
    if (outcome === "late") {
      this.#log?.error(
        { gracefulShutdownTimeout },
        "not everything stopped in time; what is left is abandoned",
      );
      await this.#abandon(abort.signal);
    }
    this.#state = "stopped";
  }

  async #stopInOrder(abort: AbortSignal): Promise<void> {
    await this.#stopParts(abort);
    // A start under way may have opened more before it noticed.
    await this.#starting?.catch(() => undefined);
    await this.#stopParts(abort);
  }

  async #stopParts(abort: AbortSignal): Promise<void> {
    await this.#terms?.close(abort);
    await Promise.all(this.#events.map((events) => events.flush()));
    await this.#handOver();
    await this.#started.stop(abort, this.#log);
  }

  /**
   * Lets another lead at once if it is certain that nothing here writes any more; else it has to
   * wait until the lease expires.
   */
  async #handOver(): Promise<void> {
    const writes = this.#connection?.writes;
    await writes?.settled();
    if (writes?.wereAnswered(UNANSWERED_MS)) await this.#leadership?.release();
    else await this.#leadership?.abandon();
  }

  /**
   * Ends what did not end in time: whatever it still does, it does not lead, cannot write, and
   * keeps no other replica from leading.
   */
  async #abandon(abort: AbortSignal): Promise<void> {
    const ended = this.#leadership?.abandon();
    this.#terms?.abandon();
    this.#started.abandon(abort, this.#log);
    await ended;
  }

  #identity(): string {
    return (
      this.#options.leaderElection?.identity ?? `${process.env.POD_NAME ?? hostname()}_${uuid(this.#random)}`
    );
  }
}
