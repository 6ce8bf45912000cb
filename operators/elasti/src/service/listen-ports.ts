import type { PortPair, ServiceObject } from "./objects.ts";

/** The ports that the resolver may listen on for Services. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** No port of the range is free. */
export class PortsExhaustedError extends Error {
  readonly range: PortRange;

  constructor(range: PortRange) {
    super(`all ports from ${range.first} to ${range.last} are taken: give the resolver a wider range`);
    this.name = "PortsExhaustedError";
    this.range = range;
  }
}

/**
 * What ports are called, and what `appProtocol` is, where clients speak HTTP and so speak first.
 */
const httpName = /^(?:http|http2|h2c|grpc|grpc-web)(?:-|$)/;
const httpProtocol = /^(?:http|http2|h2c|grpc|grpc-web|kubernetes\.io\/(?:h2c|ws))$/i;

/** Whether a port is for HTTP, by what its Service declares: `appProtocol`, or else its name. */
function isHttp(name: string, appProtocol: string | undefined): boolean {
  return appProtocol === undefined ? httpName.test(name) : httpProtocol.test(appProtocol);
}

/**
 * Gives every port of every Service a port of the resolver's own, by which the resolver knows what
 * a connection is for. What was given stays in the status; here is kept what is given and not
 * stored yet.
 */
export class ListenPorts {
  readonly #range: PortRange;
  /** Who has each port, by the key of the ElastiService and the number in the Service. */
  readonly #given = new Map<number, string>();

  constructor(range: PortRange) {
    this.#range = range;
  }

  /** Notes the ports of a status. The first to have a port keeps it. */
  note(owner: string, pairs: readonly PortPair[]): void {
    for (const { port, listenPort } of pairs)
      if (!this.#given.has(listenPort)) this.#given.set(listenPort, `${owner} ${port}`);
  }

  /** The ports for a Service: those that it has, and new ones. @throws PortsExhaustedError */
  give(owner: string, service: ServiceObject, before: readonly PortPair[]): readonly PortPair[] {
    const pairs = (service.spec?.ports ?? [])
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .map(({ name = "", port, appProtocol }) => {
        const holder = `${owner} ${port}`;
        const had = before.find((one) => one.port === port)?.listenPort;
        const isMine = had !== undefined && (this.#given.get(had) ?? holder) === holder;
        const listenPort = isMine ? had : this.#free(holder);
        this.#given.set(listenPort, holder);
        return { name, port, listenPort, ...(isHttp(name, appProtocol) && { protocol: "http" as const }) };
      });
    this.#release(owner, new Set(pairs.map(({ listenPort }) => listenPort)));
    return pairs;
  }

  /** The ElastiService is gone. */
  forget(owner: string): void {
    this.#release(owner, new Set());
  }

  #release(owner: string, kept: ReadonlySet<number>): void {
    for (const [port, holder] of this.#given)
      if (holder.startsWith(`${owner} `) && !kept.has(port)) this.#given.delete(port);
  }

  #free(holder: string): number {
    for (const [port, given] of this.#given) if (given === holder) return port;
    for (let port = this.#range.first; port <= this.#range.last; port++)
      if (!this.#given.has(port)) return port;
    throw new PortsExhaustedError(this.#range);
  }
}
