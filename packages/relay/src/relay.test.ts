import { once } from "node:events";
import { Duplex } from "node:stream";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { describe, expect, test } from "vitest";
import { type Relay, type RelayOptions, relay } from "./relay.ts";
import { gap, Peer, turn, until } from "./sockets.fixture.ts";

async function joinedPeers(options: RelayOptions = {}) {
  const { clientPeer, client, upstream, upstreamPeer } = await gap();
  return { clientPeer, upstreamPeer, client, upstream, relay: relay(client, upstream, options) };
}

/** Both ends of one TLS connection on this machine. */
async function tlsConnection(): Promise<readonly [near: TLSSocket, far: TLSSocket]> {
  const authority = createAuthority({ commonName: "test", validFor: 3_600_000 });
  const pair = authority.issue({
    commonName: "localhost",
    dnsNames: ["localhost"],
    usages: ["server"],
    validFor: 3_600_000,
  });
  const server = createTlsServer({ cert: pair.certificate, key: pair.key, allowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const accepted = once(server, "secureConnection") as Promise<[TLSSocket]>;
  const near = connectTls({
    host: "127.0.0.1",
    port: address.port,
    servername: "localhost",
    ca: authority.certificate,
  });
  const [[far]] = await Promise.all([accepted, once(near, "secureConnect")]);
  server.close();
  return [near, far];
}

/** A stream that takes nothing until it is resumed. */
class Stalled extends Duplex {
  readonly taken: Buffer[] = [];
  #waiting: (() => void) | undefined;
  #isOpen = false;

  override _read(): void {
    // Sends nothing.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.taken.push(chunk);
    if (this.#isOpen) done();
    else this.#waiting = done;
  }

  open(): void {
    this.#isOpen = true;
    this.#waiting?.();
  }
}

describe("half-close", () => {
  test("a client that has ended still receives the whole response", async () => {
    const { clientPeer, upstreamPeer, relay: joined } = await joinedPeers();
    clientPeer.send(Buffer.from("request"));
    clientPeer.socket.end();
    await until(() => upstreamPeer.hasSeenEnd);
    expect(upstreamPeer.received.toString()).toBe("request");
    expect(clientPeer.hasSeenEnd).toBe(false);
    upstreamPeer.send(Buffer.alloc(1_000_000, 1));
    upstreamPeer.socket.end();
    await until(() => clientPeer.hasSeenEnd);
    expect(clientPeer.received.length).toBe(1_000_000);
    expect(await joined.ended).toMatchObject({
      outcome: { how: "closed" },
      fromClient: 7,
      fromUpstream: 1_000_000,
    });
  });

  test("works over TLS on both sides", async () => {
    const [[clientSocket, client], [upstream, upstreamSocket]] = await Promise.all([
      tlsConnection(),
      tlsConnection(),
    ]);
    const [clientPeer, upstreamPeer] = [new Peer(clientSocket), new Peer(upstreamSocket)];
    const joined = relay(client, upstream);
    clientPeer.send(Buffer.from("request"));
    clientPeer.socket.end();
    await until(() => upstreamPeer.hasSeenEnd);
    upstreamPeer.send(Buffer.alloc(1_000_000, 1));
    upstreamPeer.socket.end();
    await until(() => clientPeer.hasSeenEnd);
    expect(upstreamPeer.received.toString()).toBe("request");
    expect(clientPeer.received.length).toBe(1_000_000);
    expect((await joined.ended).outcome).toEqual({ how: "closed" });
  });

  test("the end of a client that came before the relay is passed on", async () => {
    const { clientPeer, client, upstream, upstreamPeer } = await gap();
    client.allowHalfOpen = true;
    clientPeer.socket.end();
    client.resume();
    await once(client, "end");
    const joined = relay(client, upstream);
    await until(() => upstreamPeer.hasSeenEnd);
    upstreamPeer.socket.end();
    expect((await joined.ended).outcome).toEqual({ how: "closed" });
  });
});

describe("back-pressure", () => {
  test("a client is not read from while the upstream side takes nothing", async () => {
    const { clientPeer, client } = await gap();
    const upstream = new Stalled();
    const joined = relay(client, upstream, { bufferBytes: 100_000 });
    const total = 64 * 1024 * 1024;
    clientPeer.socket.write(Buffer.alloc(total));
    await until(() => client.isPaused());
    expect(joined.fromClient).toBeLessThan(300_000);
    const stalledAt = joined.fromClient;
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(joined.fromClient).toBe(stalledAt);
    upstream.open();
    await until(() => joined.fromClient === total);
    joined.abort("the test is over");
    await joined.ended;
  });
});

describe("a connection that breaks", () => {
  test("resets the other side, so that it is not mistaken for the end", async () => {
    const { clientPeer, upstreamPeer, relay: joined } = await joinedPeers();
    upstreamPeer.send(Buffer.from("half of it"));
    await until(() => clientPeer.received.length > 0);
    upstreamPeer.socket.resetAndDestroy();
    await clientPeer.closed;
    expect(clientPeer.error?.code).toBe("ECONNRESET");
    expect(clientPeer.hasSeenEnd).toBe(false);
    expect((await joined.ended).outcome).toMatchObject({ how: "lost", side: "upstream" });
  });

  test("while its end is being passed on still closes both sides", async () => {
    const { clientPeer, client, relay: joined } = await joinedPeers();
    client.once("end", () => joined.abort("now"));
    clientPeer.socket.end();
    expect((await joined.ended).outcome).toEqual({ how: "aborted", reason: "now" });
  });

  test("before the relay ends it at once", async () => {
    const { client, upstream, clientPeer } = await gap();
    client.destroy();
    await once(client, "close");
    const joined = relay(client, upstream);
    expect((await joined.ended).outcome).toMatchObject({ how: "lost", side: "client" });
    expect(upstream.destroyed).toBe(true);
    clientPeer.socket.destroy();
  });
});

describe("last bytes", () => {
  const reason = new Error("revoked");

  test("its bytes follow those that were already on their way, and an end follows them", async () => {
    const {
      clientPeer,
      upstreamPeer,
      relay: joined,
    } = await joinedPeers({
      lastBytes: (to, outcome) =>
        to === "client" && outcome.how === "aborted" ? Buffer.from(` ${String(outcome.reason)}`) : undefined,
    });
    upstreamPeer.send(Buffer.from("so far"));
    await until(() => joined.fromUpstream > 0);
    joined.abort(reason);
    await until(() => clientPeer.hasSeenEnd);
    expect(clientPeer.received.toString()).toBe("so far Error: revoked");
    expect(clientPeer.error).toBeUndefined();
    clientPeer.socket.end();
    await Promise.all([joined.ended, upstreamPeer.closed]);
    expect(upstreamPeer.error?.code).toBe("ECONNRESET");
  });

  test("comes before the end that the other side sent", async () => {
    const {
      clientPeer,
      upstreamPeer,
      relay: joined,
    } = await joinedPeers({
      lastBytes: (to, { how }) => (to === "client" && how === "ended" ? Buffer.from(", it said") : undefined),
    });
    upstreamPeer.send(Buffer.from("bye"));
    upstreamPeer.socket.end();
    await until(() => clientPeer.hasSeenEnd);
    clientPeer.socket.end();
    expect(await joined.ended).toMatchObject({ outcome: { how: "closed" }, fromUpstream: 3 });
    expect(clientPeer.received.toString()).toBe("bye, it said");
    expect(upstreamPeer.received.toString()).toBe("");
  });

  test("reaches a client that goes on sending", async () => {
    const { clientPeer, relay: joined } = await joinedPeers({
      lastBytes: (to) => (to === "client" ? Buffer.from("bye") : undefined),
    });
    clientPeer.send(Buffer.alloc(4_000_000));
    await until(() => joined.fromClient > 0);
    joined.abort(reason);
    await until(() => clientPeer.hasSeenEnd);
    clientPeer.socket.end();
    await joined.ended;
    expect(clientPeer.received.toString()).toBe("bye");
  });

  test("reaches a client that was not being read from", async () => {
    const { clientPeer, client } = await gap();
    const joined = relay(client, new Stalled(), {
      bufferBytes: 1,
      lastBytes: (to) => (to === "client" ? Buffer.from("bye") : undefined),
      lastBytesWithin: "1h",
    });
    clientPeer.send(Buffer.alloc(4_000_000));
    await until(() => client.isPaused());
    joined.abort(reason);
    await until(() => clientPeer.hasSeenEnd);
    clientPeer.socket.end();
    await joined.ended;
    expect([clientPeer.received.toString(), clientPeer.error]).toEqual(["bye", undefined]);
  });

  test("a client that does not take it is cut off in time", async () => {
    const clock = new ManualClock();
    const { client, upstream } = await gap();
    const joined = relay(client, upstream, {
      lastBytes: () => Buffer.from("bye"),
      lastBytesWithin: "2s",
      clock,
    });
    joined.abort(reason);
    await clock.advance(1_999);
    expect(client.destroyed).toBe(false);
    await clock.advance(1);
    expect((await joined.ended).outcome).toEqual({ how: "aborted", reason });
    expect(clock.pending).toBe(0);
  });
});

describe("limits", () => {
  async function limited(options: RelayOptions) {
    const clock = new ManualClock();
    const peers = await joinedPeers({ ...options, clock });
    let end: Awaited<Relay["ended"]> | undefined;
    void peers.relay.ended.then((value) => {
      end = value;
    });
    return { ...peers, clock, isOver: () => end !== undefined };
  }

  test("a relay through which nothing moves ends after the idle time, counted from the last byte either way", async () => {
    const { clientPeer, upstreamPeer, relay: joined, clock, isOver } = await limited({ idle: "1m" });
    await clock.advance(50_000);
    clientPeer.send(Buffer.from("a"));
    await until(() => joined.fromClient === 1);
    await clock.advance(50_000);
    upstreamPeer.send(Buffer.from("b"));
    await until(() => joined.fromUpstream === 1);
    await clock.advance(59_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect(await joined.ended).toMatchObject({
      outcome: { how: "limit", limit: "idle" },
      durationMs: 160_000,
    });
    expect(clock.pending).toBe(0);
  });

  test("a relay ends after the total time, whatever moves", async () => {
    const { clientPeer, relay: joined, clock, isOver } = await limited({ idle: "1m", total: "90s" });
    await clock.advance(50_000);
    clientPeer.send(Buffer.from("a"));
    await until(() => joined.fromClient === 1);
    await clock.advance(39_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect((await joined.ended).outcome).toEqual({ how: "limit", limit: "total" });
    expect(clock.pending).toBe(0);
  });

  test("a relay without limits sets no timers", async () => {
    const { relay: joined, clock } = await limited({});
    expect(clock.pending).toBe(0);
    joined.abort("the test is over");
    await joined.ended;
  });

  test("an invalid duration is refused by name", async () => {
    const { client, upstream, clientPeer, upstreamPeer } = await gap();
    expect(() => relay(client, upstream, { idle: -1 })).toThrow("relay: idle (-1)");
    for (const socket of [client, upstream, clientPeer.socket, upstreamPeer.socket]) socket.destroy();
  });
});

test("bytes that were read and put back come first", async () => {
  const { clientPeer, client, upstream, upstreamPeer } = await gap();
  clientPeer.send(Buffer.from("head and body"));
  await once(client, "readable");
  const head = client.read(4) as Buffer;
  client.unshift(head);
  client.removeAllListeners("readable");
  const joined = relay(client, upstream);
  clientPeer.socket.end();
  await until(() => upstreamPeer.hasSeenEnd);
  expect(upstreamPeer.received.toString()).toBe("head and body");
  joined.abort("the test is over");
  await joined.ended;
});

test("inspect sees each byte of each side before the other side does", async () => {
  const seen = { client: "", upstream: "" };
  const {
    clientPeer,
    upstreamPeer,
    relay: joined,
  } = await joinedPeers({
    inspect: (from, chunk) => {
      seen[from] += chunk.toString();
    },
  });
  clientPeer.send(Buffer.from("ping"));
  upstreamPeer.send(Buffer.from("pong"));
  clientPeer.socket.end();
  upstreamPeer.socket.end();
  await joined.ended;
  expect(seen).toEqual({ client: "ping", upstream: "pong" });
});
