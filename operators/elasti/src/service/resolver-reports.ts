import { request } from "node:http";
import type { ServiceTraffic } from "../resolver/targets.ts";

/**
 * What one replica of the resolver does for a service, and which step of the service it follows.
 */
export interface ResolverReport extends ServiceTraffic {
  /** `status.step` of the ElastiService that the resolver acts by. */
  readonly step: number;
  /** Another one after each start of the process, whose counts begin at zero then. */
  readonly instance?: string;
}

/** Asks the processes of the resolver what they do. */
export interface ResolverReports {
  /** Where the processes of each replica report: a replica is one process, or several. */
  readonly ports: readonly number[];
  /**
   * @param port of the process.
   * @returns `gone` if no process is there; undefined if it does not answer, or does not know the
   *   service.
   */
  of(
    address: string,
    port: number,
    namespace: string,
    service: string,
    signal: AbortSignal,
  ): Promise<ResolverReport | "gone" | undefined>;
}

const longestMs = 2_000;
const longestBody = 65_536;
/** What the kernel reports where no process listens, or the address is gone. */
export const absentCodes: ReadonlySet<string> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]);

/** Reports by HTTP, from the internal ports of each replica. */
export function httpReports(ports: readonly number[]): ResolverReports {
  return {
    ports,
    of: (address, port, namespace, service, signal) =>
      new Promise((resolve) => {
        const path = `/traffic/${encodeURIComponent(namespace)}/${encodeURIComponent(service)}`;
        const asked = request({ host: address, port, path, timeout: longestMs, signal }, (answer) => {
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (chunk: string) => {
            text += chunk;
            if (text.length > longestBody) asked.destroy();
          });
          answer.on("end", () => resolve(answer.statusCode === 200 ? parse(text) : undefined));
        });
        // A replica that cannot be asked has proven nothing: the caller waits, or gives up.
        asked.on("error", ({ code }: NodeJS.ErrnoException) =>
          resolve(code !== undefined && absentCodes.has(code) ? "gone" : undefined),
        );
        asked.on("timeout", () => asked.destroy());
        asked.on("close", () => resolve(undefined));
        asked.end();
      }),
  };
}

function parse(text: string): ResolverReport | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isReport(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isReport(value: unknown): value is ResolverReport {
  if (typeof value !== "object" || value === null) return false;
  const { step, requests, held, inFlight, isListening, instance } = value as Readonly<
    Record<string, unknown>
  >;
  return (
    [step, requests, held, inFlight].every((one) => typeof one === "number") &&
    typeof isListening === "boolean" &&
    (instance === undefined || typeof instance === "string")
  );
}
