import { once } from "node:events";
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import { trustBundle } from "../certificates/index.ts";
import { pool, TestEnvironment, until } from "./environment.fixture.ts";

type KeyPair = ReturnType<TestEnvironment["allocate"]>["pair"];

/** How a client falls silent: for good, or so that a byte comes now and then. */
type Silence = "silent" | "a byte now and then";

/** Leads to a gateway, and lets only so many of a client's bytes through. */
class Throttle implements AsyncDisposable {
  /** What came from clients. */
  bytes = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(to: number, most: number, silence: Silence) {
    this.#server = createServer((client) => {
      const gateway = connectTcp(to, "127.0.0.1");
      for (const socket of [client, gateway]) {
        this.#sockets.add(socket);
        socket.on("error", () => socket.destroy());
      }
      gateway.once("close", () => client.destroy());
      client.once("close", () => gateway.destroy());
      gateway.on("data", (chunk) => client.write(chunk));
      const held: number[] = [];
      client.on("data", (chunk: Buffer) => {
        const passed = chunk.subarray(0, Math.max(0, most - this.bytes));
        this.bytes += chunk.length;
        gateway.write(passed);
        held.push(...chunk.subarray(passed.length));
      });
      if (silence === "silent") return;
      const trickle = setInterval(() => {
        const next = held.shift();
        if (next !== undefined) gateway.write(Buffer.of(next));
      }, 20);
      gateway.once("close", () => clearInterval(trickle));
    });
  }

  static async start(to: number, most: number, silence: Silence): Promise<Throttle> {
    const throttle = new Throttle(to, most, silence);
    throttle.#server.listen(0, "127.0.0.1");
    await once(throttle.#server, "listening");
    return throttle;
  }

  connect(environment: TestEnvironment, { certificate, key }: KeyPair) {
    const { port } = this.#server.address() as AddressInfo;
    const client = connectTls({
      host: "127.0.0.1",
      port,
      servername: `${pool.name}.${pool.namespace}.svc`,
      cert: certificate,
      key,
      ca: trustBundle(environment.pki.clients.ring),
      ALPNProtocols: ["h2"],
    });
    client.on("error", () => client.destroy());
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** How many bytes a client sends until the gateway knows it. */
async function handshakeBytes(environment: TestEnvironment, pair: KeyPair): Promise<number> {
  await using whole = await Throttle.start(environment.gateway.port, Number.POSITIVE_INFINITY, "silent");
  const client = whole.connect(environment, pair);
  await once(client, "secureConnect");
  await until(() => environment.gateway.connections === 1);
  const { bytes } = whole;
  client.destroy();
  await until(() => environment.gateway.connections === 0);
  return bytes;
}

test.for<Silence>(["silent", "a byte now and then"])(
  "a client that falls silent after any byte of its handshake is cut off, and holds no place: %s",
  { timeout: 60_000 },
  async (silence) => {
    await using environment = await TestEnvironment.start({ limits: { handshake: "2s", connections: 1 } });
    const { pair } = environment.allocate(await environment.worker());
    const whole = await handshakeBytes(environment, pair);
    expect(whole).toBeGreaterThan(500);
    // Another handshake may be shorter by a few bytes, as signatures are. One that trickles would
    // come to its end in time if little was left.
    const last = whole - (silence === "silent" ? 8 : 300);
    const cuts = Array.from({ length: 40 }, (_, index) => Math.round((index * last) / 39));
    await Promise.all(
      cuts.map(async (cut) => {
        await using throttle = await Throttle.start(environment.gateway.port, cut, silence);
        const client = throttle.connect(environment, pair);
        client.resume();
        await new Promise((resolve) => client.once("close", resolve));
      }),
    );
    expect(environment.gateway.connections).toBe(0);
    // There is one place, and it is free.
    expect(await environment.call(pair)).toMatchObject({ status: 0 });
  },
);
