import type { Clock } from "@windlass/clock";
import type { BudgetHolder, HoldBudget } from "./hold/budget.ts";
import { Dispatcher, type DispatcherOwner, type DispatchRules } from "./hold/dispatcher.ts";
import type { SlowStart } from "./hold/load.ts";
import type { OwnResponse } from "./http1/answer.ts";
import type { ServiceMetrics } from "./metrics.ts";
import { type ProbeMatcher, probeMatcher } from "./probes.ts";
import type { RequestView } from "./request.ts";
import {
  type ServiceKey,
  type ServiceTraffic,
  serviceKey,
  type Target,
  type TargetLookup,
  type Waker,
} from "./targets.ts";
import type { LostPeers } from "./upstream/lost-peers.ts";
import { EndpointResources } from "./upstream/resources.ts";
import { WakeCalls } from "./wake.ts";

/** What all services of a resolver have in common. */
export interface ServiceContext {
  readonly clock: Clock;
  readonly waker: Waker;
  readonly budget: HoldBudget;
  /** How long a request may wait, of a service that does not say. */
  readonly holdMs: number;
  readonly slowStart: SlowStart;
  /** What connections to endpoints read into, one after the other. */
  readonly readBuffer: Buffer;
  readonly lostPeers: LostPeers;
}

const DEFAULT_QUEUE_SIZE = 10_000;

/** A port of a service: what its requests are given to. */
export interface ServicePort {
  readonly service: Service;
  readonly name: string;
  readonly dispatcher: Dispatcher<EndpointResources>;
}

/**
 * A service that the resolver fronts: its ports, what waits for it, and what the operator sets for
 * it.
 */
export class Service implements DispatcherOwner, BudgetHolder {
  readonly key: ServiceKey;
  readonly metrics: ServiceMetrics;
  readonly #context: ServiceContext;
  readonly #wakes: WakeCalls;
  readonly #ports = new Map<string, ServicePort>();
  #target: Target;
  #probes: ProbeMatcher;
  #requests = 0;
  #inFlight = 0;
  #connections = 0;
  #lastRequestAt: number | undefined;
  /** When the first request began to wait for the target to wake. */
  #coldSince: number | undefined;

  constructor(target: Target, metrics: ServiceMetrics, context: ServiceContext) {
    this.key = serviceKey(target.namespace, target.service);
    this.metrics = metrics;
    this.#target = target;
    this.#probes = probeMatcher(target.probeResponses ?? []);
    this.#context = context;
    const { namespace, service } = target;
    this.#wakes = new WakeCalls(
      { namespace, service },
      {
        waker: context.waker,
        clock: context.clock,
        waiting: () => this.held,
        observer: metrics,
      },
    );
  }

  get target(): Target {
    return this.#target;
  }

  /** How long a request may wait. */
  get holdMs(): number {
    return this.#target.limits?.holdMs ?? this.#context.holdMs;
  }

  get held(): number {
    let held = 0;
    for (const { dispatcher } of this.#ports.values()) held += dispatcher.held;
    return held;
  }

  /** Whether clients should connect again, because new connections lead past the resolver. */
  get isHandedBack(): boolean {
    return this.#target.dispatch === "hand-back";
  }

  /** How a request is answered without waking the target, if it is a probe. */
  probeResponse(request: RequestView): OwnResponse | undefined {
    return this.#probes(request);
  }

  port(name: string): ServicePort | undefined {
    return this.#ports.get(name);
  }

  /** What holds from now on. */
  update(target: Target, lookup: TargetLookup): void {
    const isOtherwise =
      target.dispatch !== this.#target.dispatch || target.unavailable !== this.#target.unavailable;
    if (target.probeResponses !== this.#target.probeResponses)
      this.#probes = probeMatcher(target.probeResponses ?? []);
    this.#target = target;
    if (isOtherwise) this.#wakes.changed();
    const rules: DispatchRules = {
      isHeld: target.dispatch === "hold",
      refusal: target.unavailable && { why: "unavailable", ...target.unavailable },
      holdMs: this.holdMs,
      maxConcurrencyPerEndpoint: target.limits?.maxConcurrencyPerEndpoint ?? Number.POSITIVE_INFINITY,
    };
    const names = new Set(target.ports.map(({ name }) => name));
    for (const [name, { dispatcher }] of this.#ports)
      if (!names.has(name)) {
        dispatcher.close({ why: "unknown-service" });
        this.#ports.delete(name);
      }
    for (const name of names) {
      const excluded = target.excludedPods;
      const endpoints = lookup
        .endpoints(this.key, name)
        .filter(({ podUid }) => podUid === undefined || !excluded?.has(podUid));
      const { dispatcher } = this.#ports.get(name) ?? this.#addPort(name, rules);
      if (endpoints.length > 0 && !rules.isHeld) this.#awake();
      dispatcher.update(rules, endpoints);
    }
  }

  /** The service is no longer fronted. */
  close(): void {
    this.#wakes.stop();
    for (const { dispatcher } of this.#ports.values()) dispatcher.close({ why: "unknown-service" });
  }

  /** Refuses all requests that wait. */
  refuseAll(why: "unknown-service" | "shutting-down"): void {
    for (const { dispatcher } of this.#ports.values()) dispatcher.refuseAll({ why });
  }

  /** A request has come. */
  requested(): void {
    this.#requests += 1;
    this.#lastRequestAt = this.#context.clock.now();
  }

  dispatched(): void {
    this.#inFlight += 1;
  }

  /** To be called once for each `dispatched`. */
  ended(): void {
    this.#inFlight -= 1;
  }

  /** An endpoint has begun to answer. */
  answered(): void {
    if (this.#coldSince === undefined) return;
    this.metrics.coldStart("first_byte", this.#context.clock.monotonic() - this.#coldSince);
    this.#coldSince = undefined;
  }

  traffic(isListening: boolean): ServiceTraffic {
    const { namespace, service } = this.#target;
    return {
      namespace,
      service,
      isListening,
      requests: this.#requests,
      held: this.held,
      inFlight: this.#inFlight,
      upstreamConnections: this.#connections,
      ...(this.#lastRequestAt !== undefined && { lastRequestAt: this.#lastRequestAt }),
    };
  }

  mayHold(): boolean {
    const most = this.#target.limits?.queueSize ?? DEFAULT_QUEUE_SIZE;
    return this.held < most && this.#context.budget.take(this);
  }

  letGo(): void {
    this.#context.budget.release(this);
  }

  demanded(): void {
    this.#coldSince ??= this.#context.clock.monotonic();
    this.#wakes.demand();
  }

  evict(): void {
    let longest: ServicePort | undefined;
    for (const port of this.#ports.values())
      if (!longest || port.dispatcher.held > longest.dispatcher.held) longest = port;
    longest?.dispatcher.evict();
  }

  #awake(): void {
    if (this.#coldSince !== undefined && this.held > 0)
      this.metrics.coldStart("ready", this.#context.clock.monotonic() - this.#coldSince);
    this.#wakes.changed();
  }

  #addPort(name: string, rules: DispatchRules): ServicePort {
    const { clock, slowStart, readBuffer, lostPeers } = this.#context;
    const dispatcher = new Dispatcher<EndpointResources>(rules, {
      clock,
      owner: this,
      slowStart,
      open: (endpoint) =>
        new EndpointResources(endpoint, {
          clock,
          counted: (change) => {
            this.#connections += change;
          },
          readBuffer,
          lostPeers,
        }),
      retire: (resources) => resources.retire(),
    });
    const port: ServicePort = { service: this, name, dispatcher };
    this.#ports.set(name, port);
    return port;
  }
}
