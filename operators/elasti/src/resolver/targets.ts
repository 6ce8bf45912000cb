/** Names a Service: `namespace/name`. */
export type ServiceKey = `${string}/${string}`;

/** The key of a Service. */
export function serviceKey(namespace: string, service: string): ServiceKey {
  return `${namespace}/${service}`;
}

/**
 * What the resolver does with the requests of a service.
 *
 * - `forward`: they go to ready endpoints. While there is none, they wait and a wake is asked for.
 * - `hold`: they wait, even if endpoints are ready, because the target is going to sleep. A wake is
 *   asked for, which is what takes the sleep back. What was forwarded before goes on to its end.
 * - `hand-back`: as `forward`, and clients are asked to connect again (`Connection: close`,
 *   GOAWAY), because new connections no longer lead to the resolver.
 */
export type Dispatch = "forward" | "hold" | "hand-back";

/**
 * What is spoken on a port.
 *
 * - `auto` looks at the first bytes: TLS, the preface of HTTP/2, a request line of HTTP/1, or else
 *   raw TCP. A client that is silent for a second is treated as one whose server speaks first.
 * - `http` is HTTP, or TLS: clients speak first, and may take their time. A browser that connects
 *   ahead of need, or a client that is starved of CPU, is not joined to a pod that its later
 *   requests would be tied to.
 * - `tcp` is joined to a pod without a look.
 */
export type PortProtocol = "auto" | "http" | "tcp";

/** A port of a Service, and where the resolver accepts its connections. */
export interface TargetPort {
  /** The port's name in the Service; empty for a port without one. */
  readonly name: string;
  /** Its number in the Service. */
  readonly port: number;
  /**
   * Where the resolver listens for it: the port of its EndpointSlice. 0 if only requests by Host
   * are taken.
   */
  readonly listenPort: number;
  /** @default "auto" */
  readonly protocol?: PortProtocol | undefined;
}

/** Limits of one service in the resolver. */
export interface TargetLimits {
  /**
   * How long a request may wait for an endpoint before it is answered with 504.
   *
   * @default 600_000
   */
  readonly holdMs?: number;
  /** How many requests may wait. Further ones are answered with 503. @default 10_000 */
  readonly queueSize?: number;
  /** How many requests one endpoint has at a time. @default Infinity */
  readonly maxConcurrencyPerEndpoint?: number;
}

/** What a waiting browser sees. */
export interface WaitingPage {
  /** How long a request waits before the page is sent instead. @default 0 */
  readonly afterMs?: number;
  /** The page. @default one that says that the service is starting, and reloads itself */
  readonly html?: string;
}

/** A condition on the value of a header or query parameter. */
export interface ValueMatch {
  readonly name: string;
  readonly value: string;
  /** @default "Exact" */
  readonly type?: "Exact" | "RegularExpression";
}

/**
 * A request that is answered by the resolver while the target sleeps, without waking it. All that
 * is given must match.
 */
export interface ProbeResponse {
  /** @default any method */
  readonly method?: string;
  /** @default any path */
  readonly path?: {
    readonly type: "Exact" | "PathPrefix" | "RegularExpression";
    readonly value: string;
  };
  /** @default none */
  readonly headers?: readonly ValueMatch[];
  /** @default none */
  readonly queryParams?: readonly ValueMatch[];
  readonly response: { readonly status: number; readonly body: string };
}

/**
 * A Service that the resolver fronts: what an ElastiService sets for it, as far as traffic is
 * concerned.
 */
export interface Target {
  readonly namespace: string;
  readonly service: string;
  readonly ports: readonly TargetPort[];
  /** The Service in the same namespace whose EndpointSlices have the target's pods. */
  readonly endpointsOf: string;
  readonly dispatch: Dispatch;
  /**
   * UIDs of pods that get no more requests, though they are ready: those that are about to end.
   *
   * @default none
   */
  readonly excludedPods?: ReadonlySet<string>;
  /**
   * Why it cannot be woken for now. Requests that wait are answered with it, and 503.
   *
   * @default it can
   */
  readonly unavailable?: { readonly message: string; readonly retryAfterSeconds: number };
  /** @default TargetLimits' own */
  readonly limits?: TargetLimits;
  /** The first one that matches counts. @default none */
  readonly probeResponses?: readonly ProbeResponse[];
  /** Sent to browsers that wait. @default they wait as all others do */
  readonly waitingPage?: WaitingPage;
}

/** An address that serves one port of a target. */
export interface Endpoint {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
  /** Of the pod behind it, where there is one. */
  readonly podUid: string | undefined;
}

/**
 * What the resolver knows: which services it fronts, and which of their endpoints are ready.
 * Answers from memory.
 */
export interface TargetLookup {
  find(key: ServiceKey): Target | undefined;
  all(): Iterable<Target>;
  /** The ready endpoints of a port of a target, by the port's name. */
  endpoints(key: ServiceKey, portName: string): readonly Endpoint[];
  /** Calls back after a target or its endpoints have changed. The returned function ends that. */
  onChange(listener: (key: ServiceKey) => void): () => void;
  /** Why it does not know all targets yet; undefined once it does. */
  fault(): string | undefined;
}

/** Asks for targets to be woken. */
export interface Waker {
  /**
   * Reports that requests wait for a service. Idempotent: it is called again while they wait, and
   * when there are many more of them. Rejects if no operator received it.
   */
  wake(demand: WakeDemand, signal: AbortSignal): Promise<void>;
}

/** A service that is waited for. */
export interface WakeDemand {
  readonly namespace: string;
  readonly service: string;
  /** How many requests wait in this replica of the resolver. */
  readonly waiting: number;
}

/**
 * What a resolver did for a service, and does. Totals only grow, and start at 0 with the process.
 */
export interface ServiceTraffic {
  readonly namespace: string;
  readonly service: string;
  /**
   * Requests, and connections of other protocols, that were taken. Probes that were answered are
   * not among them.
   */
  readonly requests: number;
  /** Waiting for an endpoint. */
  readonly held: number;
  /** Forwarded, and not over yet. */
  readonly inFlight: number;
  /** Whether connections are taken on all ports of the service. */
  readonly isListening: boolean;
  /** Connections to the target's endpoints. */
  readonly upstreamConnections: number;
  /** When the last request was taken, in milliseconds since the epoch; absent if there was none. */
  readonly lastRequestAt?: number;
}
