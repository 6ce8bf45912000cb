import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@windlass/client";
import { EndpointSlice, Service } from "@windlass/runtime/kinds";
import { ElastiService } from "../src/service/elasti-service.ts";
import type { PathProbe } from "../src/service/path-probe.ts";
import type { ResolverReport, ResolverReports } from "../src/service/resolver-reports.ts";

/** Where the resolver of a test is. */
export const resolver = { namespace: "elasti", name: "elasti-resolver-service" };

const resolverAddress = "10.99.0.1";
const leavingAddress = "10.99.0.2";

/**
 * Makes the resolver's Service with one replica that is ready, or not, and one that is about to
 * end.
 */
export async function placeResolver(client: Client, isReady = true, isOneLeaving = false): Promise<void> {
  const metadata = {
    namespace: resolver.namespace,
    name: `${resolver.name}-1`,
    labels: { "kubernetes.io/service-name": resolver.name },
  };
  const leaving = { ready: false, serving: false, terminating: true };
  const endpoints = [
    { addresses: [resolverAddress], conditions: { ready: isReady } },
    ...(isOneLeaving ? [{ addresses: [leavingAddress], conditions: leaving }] : []),
  ];
  const slice = { metadata, addressType: "IPv4" as const, endpoints, ports: [{ name: "proxy", port: 8012 }] };
  await client.apply(EndpointSlice, slice, { force: true });
}

/**
 * Traffic where there is none: rules follow EndpointSlices at once, and the resolver the status.
 */
export class ModelTraffic implements PathProbe, ResolverReports {
  readonly ports = [8013];
  readonly #client: Client;
  #turn = 0;
  requests = 0;
  held = 0;
  inFlight = 0;
  isListening = true;
  /** Whether connections reach pods from where the operator is. */
  arePodsReachable = true;
  /**
   * What a replica that is about to end has in flight, and how often it was asked; `gone` if it has
   * ended.
   */
  leaving: number | "gone" | "silent" = "gone";
  leavingAsked = 0;
  /** How long it takes for a replica that is silent to be given up. */
  silentMs = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Takes the endpoints of the Service that has this address in turn. */
  async ask(address: string) {
    const { items: services } = await this.#client.list(Service);
    const service = services.find(({ spec }) => spec?.clusterIP === address);
    if (!service) return "nothing" as const;
    const { namespace, name } = service.metadata;
    const { items } = await this.#client.list(EndpointSlice, {
      namespace,
      labelSelector: `kubernetes.io/service-name=${name}`,
    });
    const ready = items
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions, addresses }) => conditions?.ready && this.#isReachable(addresses));
    const chosen = ready[this.#turn++ % ready.length];
    if (!chosen) return "nothing" as const;
    return chosen.addresses.includes(resolverAddress) ? ("resolver" as const) : ("other" as const);
  }

  #isReachable(addresses: readonly string[]): boolean {
    return this.arePodsReachable || addresses.includes(resolverAddress);
  }

  async of(
    address: string,
    _port: number,
    namespace: string,
    service: string,
  ): Promise<ResolverReport | "gone" | undefined> {
    const isLeaving = address === leavingAddress;
    if (isLeaving) this.leavingAsked += 1;
    if (isLeaving && this.leaving === "silent" && this.silentMs > 0) await delay(this.silentMs);
    if (isLeaving && typeof this.leaving === "string") return this.leaving === "gone" ? "gone" : undefined;
    const { items } = await this.#client.list(ElastiService, { namespace });
    const elasti = items.find(({ spec }) => spec.service === service);
    if (!elasti) return undefined;
    const { requests, held } = this;
    const inFlight = isLeaving ? Number(this.leaving) : this.inFlight;
    return {
      namespace,
      service,
      step: elasti.status?.step ?? 0,
      requests,
      held,
      inFlight,
      isListening: this.isListening,
      upstreamConnections: inFlight,
    };
  }
}
