import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { pathProbeHeader } from "../resolver/request.ts";

/** Who answered a connection to a Service: the resolver, somebody else, or nobody. */
export type Answerer = "resolver" | "other" | "nobody";

/** Finds out where a connection to a Service leads, from here. */
export interface PathProbe {
  ask(address: string, port: number, signal: AbortSignal): Promise<Answerer>;
}

const longestMs = 1_000;

/** Connects as any client does, and sends a nonce that only the resolver answers with. */
export const tcpPathProbe: PathProbe = {
  ask(address, port, signal) {
    const nonce = randomBytes(12).toString("hex");
    return new Promise((resolve) => {
      let isConnected = false;
      let text = "";
      const socket = connect({ host: address, port, timeout: longestMs });
      const settle = (answer: Answerer) => {
        signal.removeEventListener("abort", abort);
        socket.destroy();
        resolve(answer);
      };
      const abort = () => settle("nobody");
      signal.addEventListener("abort", abort, { once: true });
      socket.setEncoding("latin1");
      socket.on("connect", () => {
        isConnected = true;
        socket.write(
          `GET / HTTP/1.1\r\nHost: ${address}\r\n${pathProbeHeader}: ${nonce}\r\nConnection: close\r\n\r\n`,
        );
      });
      socket.on("data", (chunk: string) => {
        text += chunk;
        if (text.includes(nonce)) settle("resolver");
        else if (text.includes("\r\n\r\n") || text.length > 16_384) settle("other");
      });
      // Somebody who takes a connection and does not speak HTTP is not the resolver.
      const end = () => settle(isConnected ? "other" : "nobody");
      socket.on("timeout", end);
      socket.on("error", end);
      socket.on("close", end);
    });
  },
};

/**
 * How unlikely it must be that a pod is still in the rules after all answers came from the
 * resolver.
 */
const residualChance = 1e-6;
const fewest = 10;
const most = 400;

/**
 * How many answers in a row must come from the resolver. With as many pods as resolvers in the
 * rules each connection has an even chance; with more pods it takes fewer, with fewer pods more.
 */
export function answersNeeded(pods: number, resolvers: number): number {
  if (pods === 0 || resolvers === 0) return fewest;
  const chanceOfResolver = resolvers / (pods + resolvers);
  const needed = Math.ceil(Math.log(residualChance) / Math.log(chanceOfResolver));
  return Math.min(most, Math.max(fewest, needed));
}

/** Whether so many connections in a row reach the resolver. */
export async function leadsToResolverAlone(
  probe: PathProbe,
  address: string,
  port: number,
  answers: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (let left = answers; left > 0; left--)
    if ((await probe.ask(address, port, signal)) !== "resolver") return false;
  return true;
}

/** Whether any of a few connections reaches this answerer. */
export async function leadsTo(
  wanted: Answerer,
  probe: PathProbe,
  address: string,
  port: number,
  tries: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (let left = tries; left > 0; left--)
    if ((await probe.ask(address, port, signal)) === wanted) return true;
  return false;
}
