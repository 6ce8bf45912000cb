import { connect } from "node:net";

/** The outcome of requests that were sent to wait. */
export interface HeldRequests {
  /** When each got the first byte of a 200, in milliseconds of `performance.now()`. */
  readonly answeredAt: readonly number[];
  readonly failures: readonly string[];
}

/**
 * How many connections are begun at a time: more would be dropped by the kernel's queue, and come a
 * second later.
 */
const together = 200;

/** Sends so many requests, each over a connection of its own, and waits for their answers. */
export async function holdMany(url: string, count: number): Promise<HeldRequests> {
  const { hostname, port, pathname } = new URL(url);
  const began = performance.now();
  const answeredAt: number[] = [];
  const failures: string[] = [];
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`;
  const ask = () => {
    const sent = Promise.withResolvers<void>();
    const over = new Promise<void>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) });
      const fail = (why: string) => {
        failures.push(why);
        socket.destroy();
      };
      let connected = "never connected";
      socket.setTimeout(120_000, () =>
        fail(`no answer within 120 s: port ${socket.localPort}, ${connected}`),
      );
      socket.once("connect", () => {
        connected = `connected after ${Math.round(performance.now() - began)} ms`;
        socket.write(request, () => sent.resolve());
      });
      socket.once("data", (bytes) => {
        if (bytes.subarray(0, 12).toString("latin1") !== "HTTP/1.1 200")
          return fail(bytes.toString("latin1", 0, 40));
        answeredAt.push(performance.now());
        socket.end();
        socket.resume();
      });
      socket.on("error", (error) => fail(error.message));
      socket.on("close", () => {
        sent.resolve();
        resolve();
      });
    });
    return { sent: sent.promise, over };
  };
  const all: Promise<void>[] = [];
  for (let begun = 0; begun < count; begun += together) {
    const some = Array.from({ length: Math.min(together, count - begun) }, ask);
    all.push(...some.map(({ over }) => over));
    await Promise.all(some.map(({ sent }) => sent));
  }
  await Promise.all(all);
  return { answeredAt, failures };
}
