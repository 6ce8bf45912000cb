import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  type AddressInfo,
  connect as connectTcp,
  createServer as createTcpServer,
  type Socket,
} from "node:net";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { ManualClock, systemRandom } from "@windlass/clock";
import { relay } from "@windlass/relay";
import { describe, expect, test } from "vitest";
import { trustBundle, workerCertificate, workerServerName } from "../certificates/index.ts";
import { issueToken, newAllocationId } from "../tokens/index.ts";
import { callOn, newRing, Pki, pool, TestEnvironment, until } from "./environment.fixture.ts";
import type { Route } from "./lookup.ts";

/** A worker of raw bytes: TLS as a worker has it, and a handler for what comes. */
async function rawWorker(environment: TestEnvironment, handler: (socket: TLSSocket) => void) {
  const worker = { namespace: pool.namespace, name: "raw" };
  const { certificate, key } = workerCertificate(environment.pki.workers.authority, {
    worker,
    pool,
    validFor: 3_600_000,
  });
  const server = createTlsServer(
    {
      cert: certificate,
      key,
      ca: trustBundle(environment.pki.workers.ring),
      requestCert: true,
      ALPNProtocols: ["h2"],
      allowHalfOpen: true,
    },
    (socket) => {
      socket.on("error", () => socket.destroy());
      handler(socket);
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const route: Route = {
    at: "ready",
    worker: { name: worker.name, host: "127.0.0.1", port, serverName: workerServerName(worker) },
  };
  const issued = environment.pki.token();
  environment.table.set(issued.allocation, route);
  return {
    pair: environment.certificate(issued),
    allocation: issued.allocation,
    [Symbol.dispose]: () => void server.close(),
  };
}

describe("a client with a token", () => {
  test("reaches its own worker, and no other", async () => {
    await using environment = await TestEnvironment.start();
    const [one, two] = [await environment.worker(), await environment.worker()];
    const [first, second] = [environment.allocate(one), environment.allocate(two)];
    expect(await environment.call(first.pair)).toMatchObject({
      status: 0,
      worker: "ci-worker-1",
      body: "ping",
    });
    expect(await environment.call(second.pair)).toMatchObject({
      status: 0,
      worker: "ci-worker-2",
      gateway: "client@ci",
    });
    expect(await environment.call(first.pair)).toMatchObject({ worker: "ci-worker-1" });
  });

  test.for([
    ["TLSv1.3", ["h2"]],
    ["TLSv1.2", ["h2"]],
    ["TLSv1.3", undefined],
    ["TLSv1.2", undefined],
    ["TLSv1.3", ["h2", "http/1.1"]],
  ] as const)("may speak %s and offer %j", async ([version, protocols]) => {
    await using environment = await TestEnvironment.start();
    const { pair } = environment.allocate(await environment.worker());
    const options = {
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: protocols ? [...protocols] : [],
    };
    expect(await environment.call(pair, options)).toMatchObject({ status: 0, worker: "ci-worker-1" });
  });

  test("may not offer HTTP/1.1 alone", async () => {
    await using environment = await TestEnvironment.start();
    const { pair } = environment.allocate(await environment.worker());
    await expect(environment.connect(pair, { ALPNProtocols: ["http/1.1"] })).rejects.toThrow(
      /no application protocol/i,
    );
  });

  test("is verified again on each connection: no session is resumed", async () => {
    await using environment = await TestEnvironment.start();
    const { pair } = environment.allocate(await environment.worker());
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const limits = { minVersion: version, maxVersion: version };
      const first = await environment.open(pair, limits);
      await callOn(first);
      const session = (first.socket as TLSSocket).getSession();
      first.close();
      if (!session) throw new Error("a session to resume");
      const second = await environment.connect(pair, { ...limits, session });
      expect(second.isSessionReused()).toBe(false);
    }
  });

  test("goes on after the token has expired, and cannot connect again", async () => {
    const clock = new ManualClock(Date.now());
    await using environment = await TestEnvironment.start({ clock });
    const worker = await environment.worker();
    const issued = issueToken(environment.pki.keys, {
      allocationId: newAllocationId(systemRandom),
      now: clock.now(),
    });
    environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
    // The certificate outlives the token here, so that it is the token that counts.
    const pair = environment.certificate({ ...issued, expiresAt: issued.expiresAt + 3_600_000 });
    const session = await environment.open(pair);
    expect(await callOn(session)).toMatchObject({ status: 0 });
    await clock.advance(3_601_000);
    expect(await callOn(session)).toMatchObject({ status: 0, worker: "ci-worker-1" });
    expect(await environment.call(pair)).toMatchObject({
      status: 16,
      message: expect.stringMatching(/allocation expired at/),
    });
  });
});

describe("bytes", () => {
  test("pass through unchanged, both ways, and the end of one way leaves the other open", async () => {
    await using environment = await TestEnvironment.start();
    const sent = {
      up: Buffer.from(systemRandom.bytes(3_000_000)),
      down: Buffer.from(systemRandom.bytes(5_000_000)),
    };
    const got = createHash("sha256");
    using worker = await rawWorker(environment, (socket) => {
      socket.on("data", (chunk: Buffer) => got.update(chunk));
      // Answers only after the client has ended its side.
      socket.on("end", () => socket.end(sent.down));
    });
    const client = await environment.connect(worker.pair);
    const received = createHash("sha256");
    client.on("data", (chunk: Buffer) => received.update(chunk));
    client.end(sent.up);
    await once(client, "end");
    expect(got.digest("hex")).toBe(createHash("sha256").update(sent.up).digest("hex"));
    expect(received.digest("hex")).toBe(createHash("sha256").update(sent.down).digest("hex"));
  });

  test("are all that a client receives that has ended its side", async () => {
    await using environment = await TestEnvironment.start();
    const frame = Buffer.alloc(9);
    using worker = await rawWorker(environment, (socket) => {
      socket.resume();
      socket.on("end", () => socket.end(frame));
    });
    const client = await environment.connect(worker.pair);
    client.end("x");
    expect(await client.toArray()).toEqual([frame]);
  });

  test("that a client does not read stay with the worker", async () => {
    await using environment = await TestEnvironment.start();
    const total = 256 * 1024 * 1024;
    let written = 0;
    using worker = await rawWorker(environment, (socket) => {
      const chunk = Buffer.alloc(1024 * 1024);
      const pump = () => {
        while (written < total) {
          written += chunk.length;
          if (!socket.write(chunk)) {
            socket.once("drain", pump);
            return;
          }
        }
      };
      socket.resume();
      pump();
    });
    const client = await environment.connect(worker.pair);
    client.pause();
    let last = -1;
    while (last !== written) {
      last = written;
      for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).toBeLessThan(total / 4);
    client.destroy();
  });
});

describe("live connections are cut", () => {
  async function live(environment: TestEnvironment) {
    const worker = await environment.worker();
    const { pair, allocation } = environment.allocate(worker);
    const session = await environment.open(pair);
    expect(await callOn(session)).toMatchObject({ status: 0 });
    const words = new Promise<string>((resolve) => {
      session.on("goaway", (_code, _last, data) => resolve(Buffer.from(data ?? []).toString()));
    });
    return { worker, pair, allocation, session, words, closed: once(session, "close") };
  }

  test.for<[Route, RegExp]>([
    [{ at: "revoked", reason: "quota" }, /was revoked \(quota\)/],
    [{ at: "lost", worker: "ci-worker-1", reason: "evicted" }, /worker ci-worker-1 is lost \(evicted\)/],
    [{ at: "unknown" }, /has been released/],
  ])("when their allocation is over: %j", async ([route, message]) => {
    await using environment = await TestEnvironment.start({ limits: { lookupLag: 0 } });
    const { allocation, words, closed, pair } = await live(environment);
    const other = await live(environment);
    environment.table.set(allocation, route);
    expect(await words).toMatch(message);
    await closed;
    expect((await environment.call(pair)).message).toMatch(message);
    expect(await callOn(other.session)).toMatchObject({ status: 0 });
    expect(environment.gateway.connections).toBe(1);
  });

  test("when their worker dies, and the client receives the reason", async () => {
    // Time stands still, so nothing that is refused here has waited.
    await using environment = await TestEnvironment.start({ clock: new ManualClock(Date.now()) });
    const { worker, words, closed, pair } = await live(environment);
    await worker.kill();
    expect(await words).toMatch(/worker ci-worker-1 is lost/);
    await closed;
    // No process listens there any more, and one did before: no point in waiting.
    expect(await environment.call(pair)).toMatchObject({
      status: 14,
      message: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  test("before they are passed on, when the allocation is taken back while the worker is being reached", async () => {
    await using environment = await TestEnvironment.start();
    const worker = await environment.worker();
    const issued = environment.pki.token();
    const slow = createTcpServer((socket) => {
      environment.table.set(issued.allocation, { at: "revoked", reason: "quota" });
      const onward = connectTcp(worker.address.port, "127.0.0.1");
      relay(socket, onward);
    });
    slow.listen(0, "127.0.0.1");
    await once(slow, "listening");
    const { port } = slow.address() as AddressInfo;
    environment.table.set(issued.allocation, { at: "ready", worker: { ...worker.address, port } });
    expect(await environment.call(environment.certificate(issued))).toMatchObject({
      status: 16,
      message: expect.stringMatching(/was revoked/),
    });
    slow.close();
  });

  test("but not when its worker is marked as starting", async () => {
    await using environment = await TestEnvironment.start();
    const { allocation, session } = await live(environment);
    environment.table.set(allocation, { at: "starting", worker: "ci-worker-1" });
    expect(await callOn(session)).toMatchObject({ status: 0 });
  });
});

describe("a client whose worker is not there yet", () => {
  test("waits, and what it has sent meanwhile is not lost", async () => {
    await using environment = await TestEnvironment.start();
    const issued = environment.pki.token();
    environment.table.set(issued.allocation, { at: "starting", worker: "ci-worker-1" });
    const answer = environment.call(environment.certificate(issued));
    const worker = await environment.worker();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
    expect(await answer).toMatchObject({ status: 0, worker: "ci-worker-1", body: "ping" });
  });

  test("waits for an allocation that the gateway does not know yet", async () => {
    await using environment = await TestEnvironment.start();
    const worker = await environment.worker();
    const issued = environment.pki.token();
    const answer = environment.call(environment.certificate(issued));
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
    expect(await answer).toMatchObject({ status: 0 });
  });

  test("is asked to try again when that takes too long", async () => {
    const clock = new ManualClock(Date.now());
    await using environment = await TestEnvironment.start({ clock });
    const issued = environment.pki.token();
    environment.table.set(issued.allocation, { at: "starting", worker: "ci-worker-1" });
    const answer = environment.call(environment.certificate(issued));
    await until(() => clock.pending > 0);
    await clock.advance(15_000);
    expect(await answer).toMatchObject({
      status: 14,
      message: "worker ci-worker-1 is still starting: try again in a few seconds",
    });
  });

  test("and who breaks off gives up its place at once", async () => {
    await using environment = await TestEnvironment.start({ limits: { connections: 1 } });
    const issued = environment.pki.token();
    environment.table.set(issued.allocation, { at: "starting", worker: "ci-worker-1" });
    const { certificate, key } = environment.certificate(issued);
    const socket = connectTcp(environment.gateway.port, "127.0.0.1");
    const client = connectTls({
      socket,
      servername: "localhost",
      ca: trustBundle(environment.pki.clients.ring),
      cert: certificate,
      key,
    });
    client.on("error", () => client.destroy());
    await once(client, "session");
    socket.resetAndDestroy();
    await until(() =>
      environment.metric("buildkit_gateway_connections_total").join().includes("client_gone"),
    );
    const { pair } = environment.allocate(await environment.worker());
    expect(await environment.call(pair)).toMatchObject({ status: 0 });
  });

  test("and who leaves gives up its place when the waiting is over", async () => {
    const clock = new ManualClock(Date.now());
    await using environment = await TestEnvironment.start({ clock, limits: { connections: 1 } });
    const issued = environment.pki.token();
    environment.table.set(issued.allocation, { at: "starting", worker: "ci-worker-1" });
    const client = await environment.connect(environment.certificate(issued));
    await until(() => clock.pending > 0);
    const { pair } = environment.allocate(await environment.worker());
    expect(await environment.call(pair)).toMatchObject({ status: 8 });
    client.destroy();
    await clock.advance(15_000);
    expect(await environment.call(pair)).toMatchObject({ status: 0 });
  });
});

describe("a worker", () => {
  test("that is another's is not passed on to", async () => {
    await using environment = await TestEnvironment.start();
    const named = { namespace: pool.namespace, name: "another" };
    const other = workerCertificate(environment.pki.workers.authority, {
      worker: named,
      pool,
      validFor: 3_600_000,
    });
    const { pair } = environment.allocate(await environment.worker("ci-worker-1", other));
    expect(await environment.call(pair)).toMatchObject({
      status: 9,
      message: expect.stringMatching(/another answers at its address/),
    });
  });

  test("of another pool's authority is not passed on to", async () => {
    await using environment = await TestEnvironment.start();
    const named = { namespace: pool.namespace, name: "ci-worker-1" };
    const foreign = workerCertificate(newRing("workers").authority, {
      worker: named,
      pool,
      validFor: 3_600_000,
    });
    const { pair } = environment.allocate(await environment.worker("ci-worker-1", foreign));
    expect(await environment.call(pair)).toMatchObject({ status: 9, worker: undefined });
  });

  test("cannot be reached with a client's certificate past the gateway", async () => {
    await using environment = await TestEnvironment.start();
    const worker = await environment.worker();
    const { pair } = environment.allocate(worker);
    const direct = connectTls({
      host: "127.0.0.1",
      port: worker.address.port,
      servername: worker.address.serverName,
      ca: trustBundle(environment.pki.workers.ring),
      cert: pair.certificate,
      key: pair.key,
      ALPNProtocols: ["h2"],
    });
    const ended = Promise.race([once(direct, "close"), once(direct, "error")]);
    direct.resume();
    await ended;
    expect(worker.sockets.size).toBe(0);
  });

  test("that accepts and says nothing is given up on", async () => {
    const clock = new ManualClock(Date.now());
    await using environment = await TestEnvironment.start({ clock });
    const silent = createTcpServer((socket) => void socket.on("error", () => socket.destroy()));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const issued = environment.pki.token();
    environment.table.set(issued.allocation, {
      at: "ready",
      worker: { name: "silent", host: "127.0.0.1", port, serverName: "silent.internal" },
    });
    const answer = environment.call(environment.certificate(issued));
    for (let attempt = 0; attempt < 2; attempt++) {
      await until(() => clock.pending > 0);
      await clock.advance(5_250);
    }
    expect(await answer).toMatchObject({
      status: 14,
      message: expect.stringMatching(/did not answer in time/),
    });
    silent.close();
  });
});

describe("limits", () => {
  test("of connections, in all and of one allocation, are reported, and a connection that ends makes room", async () => {
    await using environment = await TestEnvironment.start({
      limits: { connections: 2, connectionsPerAllocation: 1 },
    });
    const worker = await environment.worker();
    const [one, two, three] = [
      environment.allocate(worker),
      environment.allocate(worker),
      environment.allocate(worker),
    ];
    const first = await environment.open(one.pair);
    expect(await callOn(first)).toMatchObject({ status: 0 });
    expect(await environment.call(one.pair)).toMatchObject({
      status: 8,
      message: expect.stringMatching(/the allocation has 1/),
    });
    const second = await environment.open(two.pair);
    expect(await callOn(second)).toMatchObject({ status: 0 });
    expect(await environment.call(three.pair)).toMatchObject({
      status: 8,
      message: expect.stringMatching(/it has 2/),
    });
    first.close();
    await until(() => environment.gateway.connections === 1);
    expect(await environment.call(three.pair)).toMatchObject({ status: 0 });
  });

  test("of the handshake cut off those who do not finish it", async () => {
    await using environment = await TestEnvironment.start({ limits: { handshake: 50 } });
    const slow = connectTcp(environment.gateway.port, "127.0.0.1");
    slow.write(Buffer.from([0x16, 0x03, 0x01]));
    slow.resume();
    await once(slow, "close");
    expect(environment.metric("buildkit_gateway_connections_total").join()).toContain("handshake_failed");
  });

  test("of idleness cut off what no byte moves through", async () => {
    const clock = new ManualClock(Date.now());
    await using environment = await TestEnvironment.start({ clock, limits: { idle: "1h" } });
    const { pair } = environment.allocate(await environment.worker());
    const session = await environment.open(pair);
    expect(await callOn(session)).toMatchObject({ status: 0 });
    const closed = once(session, "close");
    await clock.advance(3_600_000);
    await closed;
    expect(environment.metric("buildkit_gateway_connection_ends_total").join()).toContain('reason="idle"');
  });
});

describe("metrics", () => {
  const send = async (port: number, bytes: string): Promise<Socket> => {
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => socket.destroy());
    await once(socket, "connect");
    if (bytes === "") socket.end();
    else socket.end(bytes);
    socket.resume();
    await once(socket, "close");
    return socket;
  };

  test("probes that connect and leave count for nothing; those who speak something else are counted apart", async () => {
    await using environment = await TestEnvironment.start();
    await send(environment.gateway.port, "");
    await send(environment.gateway.port, "GET / HTTP/1.1\r\n\r\n");
    expect(environment.metric("buildkit_gateway_connections_total")).toEqual([
      '{pool="ci",namespace="builds",status="non_tls"} 1',
    ]);
  });

  test("have the original's names, and count what passes", async () => {
    await using environment = await TestEnvironment.start();
    const { pair } = environment.allocate(await environment.worker());
    const session = await environment.open(pair);
    await callOn(session);
    expect(environment.metric("buildkit_gateway_active_connections")).toEqual([
      '{pool="ci",namespace="builds"} 1',
    ]);
    session.close();
    await until(() => environment.gateway.connections === 0);
    expect(environment.metric("buildkit_gateway_active_connections")).toEqual([]);
    const labels = 'pool="ci",namespace="builds"';
    expect(environment.metric("buildkit_gateway_connections_total")).toEqual([
      `{${labels},status="success"} 1`,
    ]);
    expect(environment.metric("buildkit_gateway_connection_duration_seconds_count")).toEqual([
      `{${labels}} 1`,
    ]);
    expect(environment.metric("buildkit_gateway_connection_ends_total")).toEqual([
      `{${labels},reason="closed"} 1`,
    ]);
    expect(environment.metric("buildkit_gateway_bytes_total").length).toBe(2);
    expect(environment.metrics.render()).toContain(
      'buildkit_gateway_connection_duration_seconds_bucket{pool="ci",namespace="builds",le="512"}',
    );
  });
});

test("a gateway does not start with credentials that it cannot use", async () => {
  const pki = new Pki();
  const other = new Pki();
  const { clients } = pki.credentials();
  const mixed = { ...clients, pair: { ...clients.pair, key: other.credentials().clients.pair.key } };
  await expect(TestEnvironment.start({ credentials: pki.credentials({ clients: mixed }) })).rejects.toThrow(
    "the certificate for clients and its key do not belong together",
  );
});
