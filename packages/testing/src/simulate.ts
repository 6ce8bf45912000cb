import { Client, type ClientOptions, type Transport } from "@windlass/client";
import {
  type Clock,
  type Duration,
  ManualClock,
  milliseconds,
  type Random,
  seededRandom,
} from "@windlass/clock";
import { ControlPlane, type ControlPlaneOptions } from "@windlass/control-plane";
import { type Manager, type ManagerOptions, noTracing, preload } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { crdOf, type Installable } from "./definitions.ts";
import { LeaseRounds } from "./lease-rounds.ts";
import { logTail, RecentLog } from "./recent-log.ts";
import { TestClient } from "./test-client.ts";
import { Trace } from "./trace.ts";
import { defaultWaitTimeout, waitForCondition } from "./wait.ts";
import { WebhookServices, type WebhookTie } from "./webhooks.ts";

/** How operators are simulated. */
export interface SimulationOptions {
  /** Everything that is left to chance follows from it. */
  readonly seed: number;
  /** The control plane's other options. */
  readonly controlPlane?: Omit<ControlPlaneOptions, "clock" | "random" | "data">;
}

/** A manager in a simulation. */
export interface SimulatedOperator {
  readonly manager: Manager;
  /** Stops it in order, as SIGTERM does. */
  stop(): Promise<void>;
  /**
   * Ends it as `kill -9` does: from now on none of its requests reaches the server and none of its
   * timers fires, and nothing it holds is given back.
   */
  crash(): void;
}

/**
 * A control plane and operators in one process, on one clock that stands still until it is
 * advanced, with randomness from one seed. The same seed and the same steps give the same run, to
 * the byte: names, uids, resource versions, times, and the order of everything.
 *
 * What must stay out of it, because the machine decides when it is done: sockets, files, threads,
 * and signing (tokens, certificates).
 *
 * @example
 * await using world = await Simulation.start({ seed: 7 });
 * await world.install(WebApp);
 * const operator = await world.run("operator", (options) => manager(options).add(webapp));
 * await world.client.create(WebApp, app);
 * await world.advance(60_000);
 * console.log(String(world.trace));
 */
export class Simulation implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly plane: ControlPlane;
  /**
   * What clients asked and were answered, and each change of the server's state, by any client.
   */
  readonly trace: Trace;
  /**
   * May do everything; in the trace as `test`. Waits that fail through it show what operators
   * logged last.
   */
  readonly client: Client;
  readonly #log = new RecentLog();
  readonly #seed: number;
  readonly #running = new Set<Manager>();
  readonly #services: WebhookServices;
  readonly #rounds = new LeaseRounds();
  /** The round that began when leases were last left alone. */
  #restRound = 0;
  /** Takes the webhook servers of an operator away, by its name. */
  readonly #attached = new Map<string, Set<() => void>>();

  private constructor(seed: number, clock: ManualClock, plane: ControlPlane) {
    this.#seed = seed;
    this.clock = clock;
    this.plane = plane;
    this.trace = new Trace(clock);
    this.#services = new WebhookServices(plane);
    plane.onWrite(({ type, resource, key, revision, json }) => {
      this.trace.note("server", `${type} ${resource} ${key} ${revision} ${json}`);
      this.#rounds.wrote(resource);
    });
    this.client = new TestClient(
      this.#clientOptions("test", this.#strange("test")),
      this.#log,
      defaultWaitTimeout,
    );
  }

  /**
   * What operators logged last, a line each. To show it when a test fails: vitest's
   * `onTestFailed(() => console.log(world.operatorLog))`, or with `node:test`
   * `t.after(() => t.passed || console.log(world.operatorLog))`.
   */
  get operatorLog(): string {
    return String(this.#log);
  }

  static async start({ seed, controlPlane }: SimulationOptions): Promise<Simulation> {
    await Promise.all([ControlPlane.preload(), preload()]);
    const clock = new ManualClock();
    const plane = await ControlPlane.start({
      ...controlPlane,
      clock,
      random: randomFor(seed, "control plane"),
    });
    const simulation = new Simulation(seed, clock, plane);
    await simulation.settle();
    return simulation;
  }

  /** Another client, whose requests are in the trace under its name. */
  connect(name: string): Client {
    return this.#client(name, this.#strange(name));
  }

  /** Installs definitions and lets time pass until each is served. */
  async install(...definitions: readonly Installable[]): Promise<void> {
    for (const definition of definitions) {
      const crd = crdOf(definition);
      await this.client.apply(CustomResourceDefinition, crd);
      const { name } = crd.metadata;
      await this.until(waitForCondition(this.client, CustomResourceDefinition, { name }, "Established"));
    }
  }

  /**
   * Starts a manager. `make` is handed the options that tie it to the simulation, and adds its own.
   *
   * @example
   * await world.run("a", (options) => manager({ ...options, leaderElection: { name: "op", identity: "a" } }).add(webapp));
   */
  async run(name: string, make: (options: ManagerOptions) => Manager): Promise<SimulatedOperator> {
    const life = new Life(this.clock);
    const made = make({
      client: this.#client(name, life.around(this.#rounds.around(this.#traced(name), name))),
      clock: life,
      random: randomFor(this.#seed, name),
      log: this.#log.logger(name),
      tracing: noTracing,
      health: false,
      metrics: false,
    });
    this.trace.note(name, "starts");
    this.#running.add(made);
    await this.until(made.start());
    return {
      manager: made,
      stop: async () => {
        this.#running.delete(made);
        await this.until(made.stop());
        this.#rounds.leave(name);
        this.trace.note(name, "has stopped");
      },
      crash: () => {
        this.#running.delete(made);
        life.end();
        this.#rounds.leave(name);
        for (const detach of this.#attached.get(name) ?? []) detach();
        this.#attached.delete(name);
        this.trace.note(name, "crashes");
      },
    };
  }

  /**
   * What has the control plane call a webhook server, without sockets and certificates, for as long
   * as its operator lives.
   *
   * @param operator The operator that the server belongs to, as in {@link run}.
   * @example
   * await world.run("a", (options) => manager(options).add(webapp).add(webhooks(world.webhooks("a"))));
   */
  webhooks(operator: string): WebhookTie {
    const attached = this.#attached.get(operator) ?? new Set();
    this.#attached.set(operator, attached);
    return {
      install: true,
      service: { namespace: "webhook-system" },
      attach: (service, handle) => {
        const detach = this.#services.attach(service, handle);
        attached.add(detach);
        return () => {
          attached.delete(detach);
          detach();
        };
      },
    };
  }

  /**
   * Resolves when nothing is left to do at this moment: whatever happens next, happens because time
   * passes or a client acts.
   */
  async settle(): Promise<void> {
    // Within the process, all work that is left has asked for a turn of the event loop.
    do await turn();
    while (process.getActiveResourcesInfo().includes("Immediate"));
  }

  /**
   * Lets time pass. All that is due meanwhile happens at its own time, and what follows from it,
   * before time moves on.
   *
   * While nothing happens but that leaders renew their leases, they do so every ten minutes: a day
   * costs little more than its events.
   *
   * @throws RangeError for what is no duration: time does not go back.
   */
  async advance(duration: Duration): Promise<void> {
    const until = this.clock.now() + milliseconds(duration, "advance");
    this.#rounds.begin();
    await this.settle();
    while ((this.clock.nextAt ?? Number.POSITIVE_INFINITY) <= until) {
      this.#rest(until);
      await this.#step();
    }
    await this.clock.advance(until - this.clock.now());
  }

  /**
   * Lets time pass until the promise is settled, and no further.
   *
   * @throws Error with what operators logged last, if that does not happen in that much
   *   simulated time. @default "10m"
   */
  async until<T>(promise: Promise<T>, within: Duration = "10m"): Promise<T> {
    const withinMs = milliseconds(within, "until: within");
    const deadline = this.clock.now() + withinMs;
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.settle();
    while (!isSettled) {
      const { nextAt } = this.clock;
      if (nextAt === undefined || nextAt > deadline)
        throw new Error(
          nextAt === undefined
            ? `what is waited for will never come about: nothing is under way, and no timer is set${logTail(this.operatorLog)}`
            : `what is waited for did not come about within ${withinMs} ms of simulated time${logTail(this.operatorLog)}`,
        );
      await this.#step();
    }
    return promise;
  }

  async close(): Promise<void> {
    for (const running of this.#running) await this.until(running.stop());
    this.#running.clear();
    await this.plane.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Lets leases be for a while, if everybody has just seen that they are held, until something
   * happens that could change that.
   */
  #rest(until: number): void {
    const isFaulty = this.plane.faults.size > 0;
    if (isFaulty || this.#restRound !== this.#rounds.begun) this.clock.wakeHeartbeats();
    const { nextHeartbeatAt: next } = this.clock;
    if (isFaulty || !this.#rounds.isDone || next === undefined) return;
    const wake = Math.min(this.clock.now() + REST_MS, until - AWAKE_MS);
    if (wake <= next) return;
    this.clock.restHeartbeats(wake - next);
    this.#rounds.begin();
    this.#restRound = this.#rounds.begun;
  }

  async #step(): Promise<void> {
    this.clock.fireNext();
    await this.settle();
  }

  #traced(name: string): Transport {
    return this.trace.around(this.plane.connect(), name);
  }

  /** Of a client that is not an operator: what it writes may be a lease. */
  #strange(name: string): Transport {
    const inner = this.#traced(name);
    return {
      request: (request) => {
        if (request.method !== "GET") this.#rounds.begin();
        return inner.request(request);
      },
      close: () => inner.close(),
    };
  }

  #client(name: string, transport: Transport): Client {
    return new Client(this.#clientOptions(name, transport));
  }

  #clientOptions(name: string, transport: Transport): ClientOptions {
    return {
      transport,
      fieldManager: name,
      userAgent: name,
      clock: this.clock,
      onWarning: () => undefined,
    };
  }
}

/** How long leases may go without renewal while nothing happens. */
const REST_MS = 600_000;
/**
 * For how long they are renewed as usual before time stops, so that code that looks at them then
 * finds them fresh.
 */
const AWAKE_MS = 5_000;

/** The time of one process, until that process is killed. */
class Life implements Clock {
  readonly heartbeats: Clock;
  readonly #clock: Clock;
  readonly #timers = new Set<() => void>();
  readonly #end = new AbortController();

  constructor(clock: ManualClock) {
    this.#clock = clock;
    const { heartbeats } = clock;
    this.heartbeats = {
      now: () => heartbeats.now(),
      monotonic: () => heartbeats.monotonic(),
      schedule: (delayMs, task) => this.#schedule(heartbeats, delayMs, task),
    };
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  schedule(delayMs: number, task: () => void): () => void {
    return this.#schedule(this.#clock, delayMs, task);
  }

  #schedule(clock: Clock, delayMs: number, task: () => void): () => void {
    if (this.#end.signal.aborted) return () => undefined;
    const cancel = clock.schedule(delayMs, () => {
      this.#timers.delete(cancel);
      task();
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  end(): void {
    this.#end.abort(new Error("the process was killed"));
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  /**
   * A transport that ends with the process: the server sees the connections close, and the process
   * sees nothing any more.
   */
  around(inner: Transport): Transport {
    const { signal: gone } = this.#end;
    const alive = async <T>(promise: Promise<T>): Promise<T> => {
      try {
        const value = await promise;
        return gone.aborted ? await never() : value;
      } catch (error) {
        if (gone.aborted) return await never();
        throw error;
      }
    };
    return {
      request: async (request) => {
        if (gone.aborted) return await never();
        const signal = request.signal ? AbortSignal.any([request.signal, gone]) : gone;
        const response = await alive(inner.request({ ...request, signal }));
        return { ...response, body: whileAlive(response.body, alive) };
      },
      close: () => inner.close(),
    };
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

async function* whileAlive<T>(
  body: AsyncIterable<T>,
  alive: <R>(promise: Promise<R>) => Promise<R>,
): AsyncGenerator<T> {
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (let next = await alive(iterator.next()); !next.done; next = await alive(iterator.next()))
      yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/**
 * Each has a sequence of its own, so that one who asks once more does not change what the others
 * get.
 */
function randomFor(seed: number, name: string): Random {
  let hash = seed >>> 0;
  for (const character of name)
    hash = (Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) + 0x9e3779b9) >>> 0;
  return seededRandom(hash);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
