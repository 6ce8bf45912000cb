import { once } from "node:events";
import { createServer } from "node:http2";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { connectionName } from "../kernel-table.ts";
import { answering, response, TestEnvironment, until } from "../test-environment.fixture.ts";
import { LostPeers, unconfirmedIn } from "./lost-peers.ts";

/**
 * What Linux prints: a connection at rest, three that it sends on again and again, and one whose
 * peer takes nothing more.
 */
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:A579 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 28098 1 0000000000000000 100 0 0 10 0
   1: 0100D60A:C350 0200D60A:1F90 01 00000054:00000000 01:00000A2C 00000006     0        0 31000 2 0000000000000000 26
   2: 0100D60A:C351 0200D60A:1F90 01 00000054:00000000 01:00000012 00000005     0        0 31001 2 0000000000000000 26
   3: 0100D60A:C352 0200D60A:1F90 01 00000054:00000000 04:00000A2C 0000000A     0        0 31002 2 0000000000000000 26
  10: 0100D60A:C353 0300D60A:1F90 01 00000000:00000000 02:00000A2C 00000000     0        0 31003 2 0000000000000000 20
`;
const table6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: B80D0120000000000000000001000000:C350 B80D0120000000000000000002000000:1F90 01 00000054:00000000 01:00000A2C 0000000C     0        0 31000 2 0000000000000000 26
`;

test("of the kernel's connections, those count that were tried often enough in vain", () => {
  expect(unconfirmedIn(table)).toEqual(["50000 10.214.0.2 8080"]);
  const peer = { localPort: 50_000, remoteAddress: "2001:db8:0:0::2", remotePort: 8_080 };
  expect(unconfirmedIn(table6)).toEqual([connectionName(peer)]);
});

test.runIf(process.platform === "linux")(
  "a connection has the name that the kernel's table gives it",
  async () => {
    const { readFile } = await import("node:fs/promises");
    for (const host of ["127.0.0.1", "::1"]) {
      const server = createTcpServer().listen(0, host);
      await once(server, "listening");
      const socket = connect({ host, port: (server.address() as AddressInfo).port });
      await once(socket, "connect");
      const text = await readFile(host === "::1" ? "/proc/net/tcp6" : "/proc/net/tcp", "latin1");
      // As if it had been tried in vain.
      const tried = text.replaceAll(/ 00:[0-9A-F]{8} [0-9A-F]{8} /g, " 01:00000A2C 00000006 ");
      expect(unconfirmedIn(tried)).toContain(connectionName(socket));
      socket.destroy();
      server.close();
    }
  },
);

/** A resolver whose kernel reports that it sends in vain to these ports. */
async function start(lost: ReadonlySet<number>) {
  const clock = new ManualClock();
  let looks = 0;
  const unconfirmed = async () => {
    looks += 1;
    return {
      size: lost.size,
      has: (name: string) => lost.has(Number(name.split(" ")[2])),
    } as ReadonlySet<string>;
  };
  const environment = await TestEnvironment.start({ clock, protocol: "auto", unconfirmed });
  return {
    environment,
    clock,
    looks: () => looks,
    [Symbol.asyncDispose]: () => environment[Symbol.asyncDispose](),
  };
}

test("a request that was sent to a node that is lost goes to another endpoint, and one that may not be repeated gets an error", async () => {
  const lost = new Set<number>();
  await using started = await start(lost);
  const { environment, clock } = started;
  let received = 0;
  const gone = await environment.pod((socket) => void socket.on("data", () => received++), "gone");
  environment.ready(gone);
  const [read, written] = [environment.client(), environment.client()];
  const got = read.get();
  written.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  await until(() => environment.traffic.inFlight === 2);
  await clock.advance(20);
  await until(() => received === 2);
  const live = await environment.pod(
    answering(() => response("alive")),
    "live",
  );
  environment.ready(live);
  await clock.advance(5_000);
  await clock.advance(5_000);
  await until(() => started.looks() > 0);
  // The node confirms what it receives: the pod may take its time.
  expect([read.received, written.received]).toEqual(["", ""]);
  lost.add(gone.endpoint.port);
  await clock.advance(5_000);
  await clock.advance(5_000);
  expect(await got).toContain("alive");
  await written.gets("502 Bad Gateway");
  expect(environment.traffic).toMatchObject({ held: 0, inFlight: 0 });
});

test("so do calls of HTTP/2, and connections that are joined end", async () => {
  const lost = new Set<number>();
  await using started = await start(lost);
  const { environment, clock } = started;
  const server = createServer().listen(0, "127.0.0.1");
  let streams = 0;
  server.on("stream", (stream) => {
    streams += 1;
    stream.on("error", () => stream.destroy());
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  environment.ready({ address: "127.0.0.1", port, podUid: "h2" });
  const { connect: connectHttp2 } = await import("node:http2");
  const session = connectHttp2(`http://127.0.0.1:${environment.port}`);
  const call = session.request({ ":path": "/", ":method": "POST" });
  let status: unknown;
  call.on("response", (headers) => {
    status = headers[":status"];
  });
  call.end();
  await until(() => streams === 1);
  const silent = await environment.pod(() => undefined, "silent");
  environment.ready(silent);
  const raw = environment.client().send("\x00\x01raw");
  await until(() => silent.sockets.size === 1 && environment.traffic.inFlight === 2);
  lost.add(port).add(silent.endpoint.port);
  for (let look = 0; look < 4; look++) await clock.advance(5_000);
  await until(() => status === 502 && raw.isClosed);
  session.destroy();
  server.close();
});

test("nothing is looked at while there is no connection, and closed ones are forgotten", async () => {
  const clock = new ManualClock();
  const peers = new LostPeers(clock, async () => new Set());
  expect(clock.pending).toBe(0);
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  peers.watch(socket);
  await once(socket, "connect");
  expect(clock.pending).toBe(1);
  socket.destroy();
  await once(socket, "close");
  await clock.advance(5_000);
  expect(clock.pending).toBe(0);
  server.close();
});
