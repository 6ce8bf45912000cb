import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { PathProof } from "../path-proof.ts";
import { pathProbeHeader } from "../resolver/request.ts";

/** What answered a connection to a Service: the resolver, something else, or nothing. */
export type Answerer = "resolver" | "other" | "nothing";

/** Finds out where a connection to a Service leads, from here. */
export interface PathProbe {
  ask(address: string, port: number, signal: AbortSignal): Promise<Answerer>;
}

const longestMs = 1_000;
const longestHead = 16_384;

/** Connects as any client does, and sends a nonce whose answer only the resolver can make. */
export class TcpPathProbe implements PathProbe {
  readonly #proof: PathProof;

  constructor(proof: PathProof) {
    this.#proof = proof;
  }

  ask(address: string, port: number, signal: AbortSignal): Promise<Answerer> {
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
      const abort = () => settle("nothing");
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
        const end = text.indexOf("\r\n\r\n");
        if (end >= 0) settle(isProof(text.slice(0, end), this.#proof.answerTo(nonce)) ? "resolver" : "other");
        else if (text.length > longestHead) settle("other");
      });
      // What takes a connection and does not speak HTTP is not the resolver.
      const end = () => settle(isConnected ? "other" : "nothing");
      socket.on("timeout", end);
      socket.on("error", end);
      socket.on("close", end);
    });
  }
}

/** Whether the head of a response is that of the resolver. Its body, if any, proves nothing. */
function isProof(head: string, answer: string): boolean {
  const [status = "", ...fields] = head.split("\r\n");
  return (
    /^HTTP\/1\.1 204(?: |$)/.test(status) &&
    fields.some((field) => field.toLowerCase() === `${pathProbeHeader}: ${answer}`)
  );
}

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
