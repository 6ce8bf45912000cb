import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { authenticate, Client, type Credential, intercept, networkTransport } from "@windlass/client";
import { type Clock, ManualClock, seededRandom, sleep } from "@windlass/clock";
import { ConfigMap } from "@windlass/kinds/builtin";
import fc from "fast-check";
import { expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { Registry } from "../metrics/registry.ts";
import { openConnection } from "./connection.ts";
import { LeaseMemory } from "./fence.ts";
import { Tenure } from "./leadership.ts";
import { Outage } from "./outage.ts";

const rules = { identity: "a", leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const authority = createAuthority({ commonName: "ca", validFor: 86_400_000 });
const pair = authority.issue({
  commonName: "server",
  ipAddresses: ["127.0.0.1"],
  usages: ["server"],
  validFor: 86_400_000,
});
const material = { ca: authority.certificate };

/** What happens next. */
type Step =
  | {
      readonly do: "write";
      readonly bytes: number;
      /** How long its credentials take, and those for which it is sent again after a 401. */
      readonly credentialsMs: number;
      readonly renewedMs: number;
      /** What the server answers before it takes the write. */
      readonly first: 401 | 429 | undefined;
    }
  | { readonly do: "renew" }
  /** Time passes; while it `stalls`, without the event loop. */
  | { readonly do: "pass" | "stall"; readonly ms: number }
  /** The machine sleeps: time passes for all others, and on its wall clock alone. */
  | { readonly do: "sleep"; readonly ms: number }
  /** How long the next connections take to be accepted. */
  | { readonly do: "slow"; readonly ms: number }
  /**
   * The server reads nothing for so long: less than the margin between the fence and the end of the
   * lease, of which short sleeps have taken up to two seconds.
   */
  | { readonly do: "pause"; readonly ms: number };

const seconds = (...choices: readonly number[]) => fc.constantFrom(...choices.map((one) => one * 1_000));
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("write" as const),
        bytes: fc.constantFrom(10, 10, 20_000, 300_000),
        credentialsMs: seconds(0, 0, 0, 3, 9, 12, 60),
        renewedMs: seconds(0, 5, 14),
        first: fc.constantFrom(undefined, undefined, 401 as const, 429 as const),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("renew" as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant("pass" as const), ms: seconds(0.1, 1, 4, 9.9, 20) }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("stall" as const), ms: seconds(1, 9.9, 16) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("slow" as const), ms: seconds(0, 4, 9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("pause" as const), ms: seconds(1, 2.9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("sleep" as const), ms: seconds(0.9, 1.9, 3, 60) }) },
  ),
  { minLength: 3, maxLength: 25, size: "max" },
);

/**
 * A machine whose event loop can stand still: time passes then, and timers that are due fire later.
 * And which can sleep: then its monotonic clock and its timers stop.
 */
class StallingClock implements Clock {
  readonly #inner = new ManualClock();
  #stalledMs = 0;
  #sleptMs = 0;

  now = () => this.#inner.now() + this.#stalledMs + this.#sleptMs;
  monotonic = () => this.#inner.monotonic() + this.#stalledMs;
  schedule = (ms: number, task: () => void) => this.#inner.schedule(ms, task);

  stall(ms: number): void {
    this.#stalledMs += ms;
  }

  sleep(ms: number): void {
    this.#sleptMs += ms;
  }

  /** The time as the others count it. */
  get theirs(): number {
    return this.monotonic() + this.#sleptMs;
  }

  /**
   * Lets time pass, from timer to timer, and whatever is on its way through sockets arrive
   * meanwhile.
   */
  async pass(ms: number, settle: () => Promise<void>): Promise<void> {
    const until = this.#inner.now() + ms;
    await settle();
    for (let next = this.#inner.nextAt; next !== undefined && next <= until; next = this.#inner.nextAt) {
      await this.#inner.advance(Math.max(0, next - this.#inner.now()));
      await settle();
    }
    await this.#inner.advance(until - this.#inner.now());
  }
}

/** An API server that writes down when the last byte of each write was there. */
async function startServer(clock: StallingClock) {
  const arrivals: { readonly name: string; readonly at: number }[] = [];
  const sockets = new Set<Socket>();
  const secure = new Set<Socket>();
  const refused = new Set<string>();
  const state = { connectMs: 0, activity: 0, isPaused: false };
  const tls = createTlsServer({ cert: pair.certificate, key: pair.key }, (socket) => {
    let received = "";
    secure.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => secure.delete(socket));
    if (state.isPaused) socket.pause();
    socket.on("data", (chunk: Buffer) => {
      state.activity++;
      received += chunk.toString("latin1");
      const [head = "", body] = received.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      received = "";
      answer(socket, JSON.parse(body) as { metadata: { name: string } });
    });
  });
  const answer = (socket: Socket, { metadata }: { readonly metadata: { readonly name: string } }) => {
    const { name } = metadata;
    arrivals.push({ name, at: clock.theirs });
    const first = /-(401|429)$/.exec(name)?.[1];
    const isRefused = first !== undefined && !refused.has(name);
    refused.add(name);
    const text = isRefused ? "{}" : JSON.stringify({ metadata });
    const status = isRefused ? `${first} Refused\r\nretry-after: 3` : "201 Created";
    socket.write(`HTTP/1.1 ${status}\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  };
  const resume = () => {
    state.isPaused = false;
    for (const socket of secure) socket.resume();
  };
  const server = createServer((socket) => {
    state.activity++;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    clock.schedule(state.connectMs, () => tls.emit("connection", socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    state,
    arrivals,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pause(ms: number) {
      state.isPaused = true;
      for (const socket of secure) socket.pause();
      clock.schedule(ms, resume);
    },
    resume,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

test("no write arrives after the lease has ended for others, whatever credentials, connections, refusals, stalls and sleeps take", async () => {
  let arrived = 0;
  let fenced = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const clock = new StallingClock();
      await using server = await startServer(clock);
      const settle = async () => {
        for (let quiet = 0; quiet < 4; ) {
          const before = server.state.activity;
          await new Promise((resolve) => setImmediate(resolve));
          quiet = server.state.activity === before ? quiet + 1 : 0;
        }
      };
      const delays: number[] = [];
      let current: Credential = { authorization: "Bearer 0" };
      const credentials = {
        current: async () => {
          await sleep(clock, delays.shift() ?? 0);
          return current;
        },
        invalidate: () => {
          current = { authorization: "Bearer again" };
        },
      };
      const network = networkTransport({ server: server.url, tls: () => material, clock });
      const client = new Client({ transport: intercept(network, [authenticate(credentials)]), clock });

      const lease = new LeaseMemory(clock);
      const handlers = { onLeading: () => undefined, onLost: () => undefined };
      const address = { namespace: "default", name: "op" };
      const tenure = new Tenure(lease, clock, handlers, { lease: address, log: silentLogger, rules });
      const connection = await openConnection(
        { client },
        {
          fence: tenure.fence,
          clock,
          log: silentLogger,
          registry: new Registry(),
          random: seededRandom(1),
          outage: new Outage(clock, silentLogger),
        },
      );

      const renewals: number[] = [];
      const renew = () => {
        renewals.push(clock.theirs);
        lease.holdUntil(clock.monotonic() + rules.renewDeadlineMs);
        tenure.look();
      };
      let writes = 0;
      const ended: Promise<void>[] = [];
      const write = ({ bytes, credentialsMs, renewedMs, first }: Extract<Step, { do: "write" }>) => {
        if (tenure.fence.isOpen) delays.push(credentialsMs, ...(first === 401 ? [renewedMs] : []));
        const name = `w${writes++}${first === undefined ? "" : `-${first}`}`;
        const object = { metadata: { namespace: "default", name }, data: { text: "x".repeat(bytes) } };
        const made = connection.fenced.create(ConfigMap, object).then(
          () => undefined,
          (error: Error) => {
            if (error.name === "FencedError") fenced++;
          },
        );
        ended.push(made);
      };

      renew();
      for (const step of all) {
        if (step.do === "write") write(step);
        else if (step.do === "renew") renew();
        else if (step.do === "pass") await clock.pass(step.ms, settle);
        else if (step.do === "stall" || step.do === "sleep") {
          // It is the writer's event loop that stands still: the server would not be delayed by
          // that.
          if (server.state.isPaused) {
            server.resume();
            await settle();
          }
          clock[step.do](step.ms);
        } else if (step.do === "slow") server.state.connectMs = step.ms;
        else server.pause(step.ms);
      }
      await clock.pass(400_000, settle);
      await Promise.all(ended);
      await network.close();

      for (const { name, at } of server.arrivals) {
        arrived++;
        const renewed = renewals.findLast((one) => one <= at) ?? Number.NEGATIVE_INFINITY;
        expect(at - renewed, `${name} arrived so long after the last renewal`).toBeLessThan(
          rules.leaseDurationMs,
        );
      }
    }),
    { numRuns: 60 },
  );
  // Both ends of a write were seen, so that the property says something.
  expect(arrived).toBeGreaterThan(20);
  expect(fenced).toBeGreaterThan(20);
}, 60_000);
