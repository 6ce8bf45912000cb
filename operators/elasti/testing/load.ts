import { Agent, request } from "node:http";
import type { Socket } from "node:net";

/** The outcome of the requests of a load. */
export interface LoadResult {
  sent: number;
  ok: number;
  readonly failures: string[];
  /** When each of them was sent and failed, by `performance.now()`. */
  readonly failedBetween: (readonly [sentMs: number, failedMs: number])[];
  readonly latenciesMs: number[];
}

/** A load that runs until it is stopped. */
export interface Load {
  readonly result: LoadResult;
  /** Resolves once all requests have an answer. */
  stop(): Promise<LoadResult>;
}

/** Ports that no system gives to a connection that does not ask for one. */
const triedPorts = { first: 12_000, count: 8_000 } as const;

/**
 * Waits until a Service answers. A connection that was begun before the node knew the Service is
 * remembered by its kernel as leading nowhere, for two minutes, and so is any later one from the
 * same port. So each try is a new one, from a port that no other connection will have.
 */
export async function untilAnswered(url: string): Promise<void> {
  const begin = Math.floor(Math.random() * triedPorts.count);
  for (let left = 300; left > 0; left--) {
    const localPort = triedPorts.first + ((begin + left) % triedPorts.count);
    if ((await askOnce(url, 1_000, localPort)).status === 200) return;
    await new Promise((resolve) => void setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}

/** What one request over a connection of its own gives. Status 0 if nothing. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
  readonly error?: string;
}

/**
 * Sends one request over a connection of its own. Never rejects.
 *
 * @param localPort where it comes from; any if it is not given
 */
export function askOnce(url: string, withinMs = 60_000, localPort?: number): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve) => {
    const fail = (error: Error) =>
      resolve({ status: 0, body: "", ms: performance.now() - began, error: error.message });
    const from = localPort !== undefined && { localPort };
    const asked = request(url, { agent: false, signal: AbortSignal.timeout(withinMs), ...from }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      answer.on("error", fail);
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, body, ms: performance.now() - began }),
      );
    });
    asked.on("error", fail);
    asked.end();
  });
}

/** How a load uses its connections. */
export interface LoadOptions {
  /** How long a client uses a connection before it makes another. @default 1_500 */
  readonly connectionMs?: number;
}

/** How often clients close connections that they have used for long enough, and that are idle. */
const renewMs = 500;

/** What a connection was used for. */
interface Use {
  readonly since: number;
  answers: number;
  /** The body of the last answer. */
  last: string;
}

/**
 * Open loop: requests are sent at a fixed rate, however long answers take. Half on kept
 * connections, none is repeated.
 *
 * A kept connection is used for `connectionMs`, and for one request that was sent by then: also
 * where answers take so long that others queue for it.
 */
export function startLoad(url: string, perSecond: number, { connectionMs = 1_500 }: LoadOptions = {}): Load {
  const result: LoadResult = { sent: 0, ok: 0, failures: [], failedBetween: [], latenciesMs: [] };
  const pending = new Set<Promise<void>>();
  const agents = [keepingAgent()];
  const uses = new WeakMap<object, Use>();
  const renewing = setInterval(() => {
    if (performance.now() - renewedAt < connectionMs) return;
    renewedAt = performance.now();
    for (const { freeSockets } of agents)
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
    agents.unshift(keepingAgent());
  }, renewMs);
  const started = performance.now();
  let renewedAt = started;
  const ticking = setInterval(() => {
    const due = Math.floor(((performance.now() - started) / 1_000) * perSecond);
    while (result.sent < due) {
      const number = result.sent++;
      const sending = send(number).finally(() => pending.delete(sending));
      pending.add(sending);
    }
  }, 5);

  function send(number: number): Promise<void> {
    const began = performance.now();
    const isPost = number % 5 === 0;
    return new Promise((resolve) => {
      const fail = (why: string) => {
        const [at, ms] = [new Date().toISOString().slice(11, 23), Math.round(performance.now() - began)];
        const on = connectionOf(asked.socket ? uses.get(asked.socket) : undefined);
        result.failedBetween.push([began, performance.now()]);
        result.failures.push(`#${number} at ${at}, after ${ms} ms, on ${on}: ${why}`);
        resolve();
      };
      const asked = request(
        url,
        { agent: number % 2 === 0 ? agents[0] : false, method: isPost ? "POST" : "GET", timeout: 60_000 },
        (answer) => {
          const { socket } = answer;
          let body = "";
          answer.setEncoding("latin1").on("data", (text: string) => {
            body += text;
          });
          answer.on("error", (error) => fail(error.message));
          answer.on("end", () => {
            note(socket, body);
            if (answer.statusCode !== 200) return fail(`status ${answer.statusCode}`);
            result.ok++;
            result.latenciesMs.push(performance.now() - began);
            resolve();
          });
        },
      );
      asked.on("socket", (socket) => {
        if (!uses.has(socket)) uses.set(socket, { since: performance.now(), answers: 0, last: "" });
      });
      asked.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
      asked.on("timeout", () => asked.destroy(new Error("no answer within 60 s")));
      asked.end(isPost ? "x".repeat(2_000) : undefined);
    });
  }

  function note(socket: Socket, body: string): void {
    const use = uses.get(socket);
    if (!use) return;
    use.answers += 1;
    use.last = body.slice(0, 60);
    // An agent gives it to the next request that waits, however old it is.
    if (performance.now() - use.since > connectionMs) socket.destroy();
  }

  return {
    result,
    async stop() {
      clearInterval(ticking);
      while (pending.size > 0) await Promise.all(pending);
      clearInterval(renewing);
      for (const agent of agents) agent.destroy();
      return result;
    },
  };
}

function keepingAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 20 });
}

function connectionOf(use: Use | undefined): string {
  if (!use) return "no connection";
  const ms = Math.round(performance.now() - use.since);
  return `a connection of ${ms} ms with ${use.answers} answers, the last ${JSON.stringify(use.last)}`;
}
