import type { Informer, RunnableContext } from "@windlass/runtime";
import { EndpointSlice } from "@windlass/runtime/kinds";
import { type Endpoint, type ServiceKey, serviceKey, type Target } from "../resolver/targets.ts";
import { claimantOf } from "./claim.ts";
import { ElastiService, type ElastiServiceObject } from "./elasti-service.ts";
import { privateServiceName, serviceLabel } from "./names.ts";
import { type EndpointSliceObject, isMadeForResolver, serviceNameLabel } from "./objects.ts";
import { positionOf } from "./position.ts";
import { arrangementOf } from "./stage.ts";

/** Where targets and their endpoints are written to: the resolver's table. */
export interface TargetSink {
  set(target: Target): void;
  delete(key: ServiceKey): void;
  setEndpoints(key: ServiceKey, byPort: ReadonlyMap<string, readonly Endpoint[]>): void;
  markFilled(): void;
}

/** What the resolver must know of an ElastiService; undefined while it has no ports yet. */
export function targetOf({ metadata, spec, status }: ElastiServiceObject): Target | undefined {
  if (status?.ports === undefined) return undefined;
  const { stage } = positionOf(status, 0);
  const { dispatch } = arrangementOf(stage, status.restsInPath ? "Relaying" : "Serving");
  const { timeoutSeconds, queueSize, requestsPerPod, waitingPage } = spec.hold ?? {};
  const fault = status.conditions?.find(({ type, status: is }) => type === "Degraded" && is === "True");
  const isStuck = fault?.reason === "TargetMissing" || fault?.reason === "TargetNotScalable";
  return {
    namespace: metadata.namespace,
    service: spec.service,
    ports: status.ports,
    endpointsOf: privateServiceName(spec.service),
    dispatch,
    excludedPods: new Set("retired" in stage ? stage.retired : []),
    ...(isStuck && { unavailable: { message: fault.message, retryAfterSeconds: 30 } }),
    limits: {
      ...(timeoutSeconds !== undefined && { holdMs: timeoutSeconds * 1_000 }),
      ...(queueSize !== undefined && { queueSize }),
      ...(requestsPerPod !== undefined && { maxConcurrencyPerEndpoint: requestsPerPod }),
    },
    ...(spec.probeResponse && { probeResponses: spec.probeResponse }),
    ...(waitingPage && {
      waitingPage: {
        afterMs: waitingPage.afterSeconds * 1_000,
        ...(waitingPage.html !== undefined && { html: waitingPage.html }),
      },
    }),
  };
}

/** The ready endpoints in the EndpointSlices of a private Service, by the name of the port. */
export function endpointsIn(
  slices: readonly EndpointSliceObject[],
): ReadonlyMap<string, readonly Endpoint[]> {
  const byPort = new Map<string, Endpoint[]>();
  for (const { ports, endpoints } of slices)
    for (const { name = "", port } of ports ?? []) {
      if (port === undefined) continue;
      const ready = (endpoints ?? []).filter(
        ({ conditions = {} }) => (conditions.ready ?? true) && !conditions.terminating,
      );
      const found = ready.flatMap(({ addresses, targetRef }) =>
        addresses.slice(0, 1).map((address) => ({ address, port, podUid: targetRef?.uid })),
      );
      byPort.set(name, [...(byPort.get(name) ?? []), ...found]);
    }
  return byPort;
}

/**
 * Keeps a resolver's table in step with the cluster: two watches, however many services there are.
 */
export class TargetFeed {
  readonly #sink: TargetSink;
  readonly #steps = new Map<ServiceKey, number>();
  readonly #stops: (() => void)[] = [];
  #slices: Informer<EndpointSliceObject> | undefined;

  constructor(sink: TargetSink) {
    this.#sink = sink;
  }

  /** Resolves once the table is filled. */
  async start({ informer }: Pick<RunnableContext, "informer">): Promise<void> {
    const services = informer(ElastiService);
    services.addIndex("resolved", ({ metadata, spec }) => [serviceKey(metadata.namespace, spec.service)]);
    // The labels of a Service are on its EndpointSlices: only those of private Services are
    // watched.
    const slices = informer(EndpointSlice, { labelSelector: serviceLabel });
    this.#slices = slices;
    slices.addIndex("service", ({ metadata }) => [
      `${metadata.namespace}/${metadata.labels?.[serviceNameLabel]}`,
    ]);
    this.#stops.push(
      () => services.release(),
      () => slices.release(),
    );
    await Promise.all([services.synced, slices.synced]);
    const putEndpoints = (namespace: string, service: string) => {
      const found = slices.byIndex("service", `${namespace}/${privateServiceName(service)}`);
      this.#sink.setEndpoints(serviceKey(namespace, service), endpointsIn(found));
    };
    // Several may name one Service. It is treated as the one that has it requires, whichever of
    // them changes or goes.
    const put = (namespace: string, service: string) => {
      const key = serviceKey(namespace, service);
      const elasti = claimantOf(services.byIndex("resolved", key));
      if (elasti) this.#put(elasti);
      else this.#drop(key);
      if (elasti) putEndpoints(namespace, service);
    };
    // Subscribers get many objects in several turns, and all must be there before the table counts
    // as filled.
    for (const { metadata, spec } of services.list()) put(metadata.namespace, spec.service);
    this.#stops.push(
      services.subscribe((event) => {
        const { metadata, spec } = event.object;
        if (event.type === "updated" && event.old.spec.service !== spec.service)
          put(metadata.namespace, event.old.spec.service);
        put(metadata.namespace, spec.service);
      }),
      slices.subscribe(({ object: { metadata } }) => {
        const name = metadata.labels?.[serviceLabel] ?? "";
        const elasti = services.get({ namespace: metadata.namespace, name });
        if (elasti) putEndpoints(metadata.namespace, elasti.spec.service);
      }),
    );
    this.#sink.markFilled();
  }

  /** The step of a service that the table follows. */
  stepOf(key: ServiceKey): number | undefined {
    return this.#steps.get(key);
  }

  /** Whether any Service's EndpointSlice for the resolver has one of these addresses. */
  leadsTo(addresses: ReadonlySet<string>): boolean {
    const made = (this.#slices?.list() ?? []).filter(isMadeForResolver);
    return made.some(({ endpoints }) =>
      (endpoints ?? []).some((endpoint) => endpoint.addresses.some((address) => addresses.has(address))),
    );
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #put(elasti: ElastiServiceObject): void {
    const target = targetOf(elasti);
    if (!target) return;
    this.#sink.set(target);
    this.#steps.set(serviceKey(target.namespace, target.service), elasti.status?.step ?? 0);
  }

  #drop(key: ServiceKey): void {
    this.#sink.delete(key);
    this.#steps.delete(key);
  }
}
