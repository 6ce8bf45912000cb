import { itemsAt, numberAt, specOf, textAt, textsAt } from "../json-fields.ts";
import type { Entry, Store } from "../storage/store.ts";

import { parseCidr } from "../validation/names.ts";

/** The default range of cluster addresses. */
const defaultRange = "10.96.0.0/16";

/** Where the cluster addresses of Services come from. The first one is the API server's own. */
export interface ServiceRange {
  readonly cidr: string;
  readonly first: string;
  readonly last: string;
  /** How many addresses there are from the first to the last. */
  readonly size: number;
}

/**
 * The addresses of one control plane: those that Services may have, those that they have, and those
 * of pods.
 */
export class ServiceNetwork {
  readonly #store: Store;
  #range: ServiceRange = rangeOf(defaultRange);
  #allocations: Allocations | undefined;
  #podPrefix: string | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  get range(): ServiceRange {
    return this.#range;
  }

  /**
   * Sets the range of cluster addresses. Must be called before the first Service is stored.
   * @default 10.96.0.0/16
   *
   * @throws RangeError for what is not the CIDR of at least two IPv4 addresses
   */
  useRange(cidr: string): void {
    this.#range = rangeOf(cidr);
  }

  /** What the stored Services hold. */
  get allocations(): Allocations {
    this.#allocations ??= new Allocations(this.#store, this.#range);
    return this.#allocations;
  }

  /**
   * Accepts addresses of the loopback network as those of pods: where pods are processes of this
   * machine, they have such.
   *
   * @param prefix how they begin: `127.5.`
   */
  useLoopbackPods(prefix: string): void {
    this.#podPrefix = prefix;
  }

  /** Whether an address of the loopback network is a pod's. */
  isLoopbackPod(address: string): boolean {
    return this.#podPrefix !== undefined && address.startsWith(this.#podPrefix);
  }
}

/**
 * As the real server counts: neither the network's address nor the last one, where packets for all
 * go.
 */
function rangeOf(cidr: string): ServiceRange {
  const parsed = parseCidr(cidr);
  if (parsed?.version !== 4 || parsed.bits > 30) {
    throw new RangeError(
      `${cidr} is no range of IPv4 addresses that Services could have, such as ${defaultRange}`,
    );
  }
  const whole = 2 ** (32 - parsed.bits);
  const start = Math.floor(Number(parsed.address) / whole) * whole;
  const size = whole - 2;
  return { cidr, first: addressAt(start + 1), last: addressAt(start + size), size };
}

export function addressAt(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}

/**
 * Which addresses and ports the stored Services hold. Follows the store, so nothing has to be given
 * back.
 */
export class Allocations {
  readonly #addresses = new Map<string, number>();
  readonly #ports = new Map<string, number>();
  readonly #store: Store;
  readonly range: ServiceRange;

  constructor(store: Store, range: ServiceRange) {
    this.#store = store;
    this.range = range;
    for (const entry of store.entries("services")) this.#count(entry, 1);
    store.subscribe("services", ({ type, entry, previous }) => {
      if (previous) this.#count(previous, -1);
      if (type !== "DELETED") this.#count(entry, 1);
    });
  }

  /** Whether an address is taken: by a Service, or by an IPAddress object. */
  holdsAddress(address: string): boolean {
    return this.#addresses.has(address) || this.#store.get(addressesBucket, address) !== undefined;
  }

  /** @param protocol ports of different protocols do not collide */
  holdsPort(port: number, protocol: string): boolean {
    return this.#ports.has(`${protocol}/${port}`);
  }

  holdsPortAtAll(port: number): boolean {
    return ["TCP", "UDP", "SCTP"].some((protocol) => this.holdsPort(port, protocol));
  }

  #count({ object }: Entry, step: 1 | -1): void {
    const spec = specOf(object);
    for (const address of textsAt(spec, "clusterIPs"))
      if (address !== "None") add(this.#addresses, address, step);
    for (const port of itemsAt(spec, "ports")) {
      const held = numberAt(port, "nodePort");
      if (held) add(this.#ports, `${textAt(port, "protocol")}/${held}`, step);
    }
    const health = numberAt(spec, "healthCheckNodePort");
    if (health) add(this.#ports, `TCP/${health}`, step);
  }
}

function add(counts: Map<string, number>, key: string, step: number): void {
  const count = (counts.get(key) ?? 0) + step;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/** Where the addresses of Services are objects of their own. */
export const addressesBucket = "ipaddresses.networking.k8s.io";
