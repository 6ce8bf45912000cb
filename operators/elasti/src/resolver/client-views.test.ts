import { once } from "node:events";
import type { Socket } from "node:net";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { type ClientView, viewsIn } from "./client-views.ts";
import { PAUSED_CLIENT_BYTES } from "./hold/held-bytes.ts";
import { connectionName } from "./kernel-table.ts";
import { answering, response, TestEnvironment, until } from "./test-environment.fixture.ts";

/**
 * What Linux prints: one at rest, one that has ended its side, one that has yet to confirm 84
 * bytes, and one of another client.
 */
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100D60A:1F90 0200D60A:C350 01 00000000:00000000 00:00000000 00000000     0        0 31000 2 0000000000000000 26
   1: 0100D60A:1F90 0200D60A:C351 08 00000000:00004000 00:00000000 00000000     0        0 31001 2 0000000000000000 26
   2: 0100D60A:1F90 0200D60A:C352 04 00000054:00000000 01:00000A2C 00000001     0        0 31002 2 0000000000000000 26
  10: 0100D60A:1F90 0300D60A:C350 08 00000000:00000000 00:00000000 00000000     0        0 31003 2 0000000000000000 20
`;

test("a connection from a link-local address, which has a zone, is known by its name", () => {
  const ends = { localPort: 80, remotePort: 4_000 };
  const zoned = connectionName({ ...ends, remoteAddress: "fe80::1%eth0" });
  expect(zoned).toBe(connectionName({ ...ends, remoteAddress: "fe80:0:0:0:0:0:0:1" }));
});

test("of the kernel's connections, each is identified by both of its ends", () => {
  const at = (remotePort: number) =>
    ({ localPort: 8_080, remoteAddress: "10.214.0.2", remotePort }) as unknown as Socket;
  const [rests, ended, reads, gone] = [at(50_000), at(50_001), at(50_002), at(50_003)] as const;
  const views = viewsIn([table], [rests, ended, reads, gone]);
  expect(views).toEqual(
    new Map<Socket, ClientView>([
      [rests, { hasEnded: false, unconfirmed: 0 }],
      [ended, { hasEnded: true, unconfirmed: 0 }],
      [reads, { hasEnded: false, unconfirmed: 84 }],
    ]),
  );
});

const beginnings = {
  "a body with a length": ["auto", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n"],
  "a chunked body": ["auto", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4c4b40\r\n"],
  "requests behind each other": ["auto", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a protocol that is not known": ["tcp", ""],
} as const;

/** Lets seconds pass, in each of which the kernel is asked. */
async function pass(clock: ManualClock, seconds: number, isOver: () => boolean = () => false): Promise<void> {
  for (let left = seconds; left > 0 && !isOver(); left--) {
    await clock.advance(1_000);
    // Its answer is a file's, and takes a moment of real time.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until so many are held: one that left is noticed long before its time is over. */
async function isLeft(environment: TestEnvironment, clock: ManualClock, held: number): Promise<void> {
  await pass(clock, 60, () => environment.traffic.held === held);
  expect(environment.traffic.held).toBe(held);
}

/** Connects a client that sends more than is read while it waits. */
async function waiting(environment: TestEnvironment, beginning: string) {
  const client = environment.client();
  await once(client.socket, "connect");
  client.send(beginning).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(9_000));
  await until(() => environment.traffic.held === 1 && client.socket.writableLength === 0);
  return client;
}

test.runIf(process.platform === "linux").for(Object.entries(beginnings))(
  "a client that resets its connection while %s waits to be read gives its place back",
  async ([, [protocol, beginning]]) => {
    const clock = new ManualClock();
    await using environment = await TestEnvironment.start({ clock, protocol });
    const client = await waiting(environment, beginning);
    client.socket.resetAndDestroy();
    await isLeft(environment, clock, 0);
  },
);

test.runIf(process.platform === "linux")(
  "a client that resets its connection while its pod takes nothing more is no longer in flight",
  async () => {
    const clock = new ManualClock();
    await using environment = await TestEnvironment.start({ clock, protocol: "tcp" });
    environment.ready(await environment.pod((socket) => void socket.pause()));
    const client = environment.client();
    client.socket.write(Buffer.alloc(30_000_000));
    await until(() => environment.traffic.inFlight === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    client.socket.resetAndDestroy();
    await pass(clock, 60, () => environment.traffic.inFlight === 0);
    expect(environment.traffic.inFlight).toBe(0);
  },
);

test.runIf(process.platform === "linux")(
  "so does one that ends it, where no answer can be wanted",
  async () => {
    const clock = new ManualClock();
    await using environment = await TestEnvironment.start({ clock });
    const client = await waiting(environment, beginnings["a body with a length"][1]);
    client.socket.end();
    await isLeft(environment, clock, 0);
  },
);

test.runIf(process.platform === "linux")(
  "a client that waits with a long body, or has ended its side of another protocol, keeps its place",
  async () => {
    for (const [protocol, beginning] of [
      beginnings["a body with a length"],
      beginnings["a protocol that is not known"],
    ]) {
      const clock = new ManualClock();
      await using environment = await TestEnvironment.start({ clock, protocol });
      const client = await waiting(environment, beginning);
      if (protocol === "tcp") client.socket.end();
      await pass(clock, 30);
      expect(environment.traffic.held).toBe(1);
    }
  },
);

test("a connection that the kernel did not list once is not gone", async () => {
  const clock = new ManualClock();
  const known = { hasEnded: false, unconfirmed: 0 };
  const answers = [false, true, false, true];
  let looks = 0;
  const clientViews = async ([socket]: readonly Socket[]) =>
    new Map(socket && answers[looks++ % answers.length] ? [[socket, known]] : []);
  await using environment = await TestEnvironment.start({ clock, clientViews });
  await waiting(environment, beginnings["a body with a length"][1]);
  await pass(clock, 60, () => looks >= 8);
  expect(looks).toBe(8);
  expect(environment.traffic.held).toBe(1);
});

test("a resolver that leaves stays for as long as a client reads on what the kernel has for it", async () => {
  const clock = new ManualClock();
  let unconfirmed = 1_000_000;
  const clientViews = async (sockets: readonly Socket[]) =>
    new Map(sockets.map((socket) => [socket, { hasEnded: false, unconfirmed }] as const));
  await using environment = await TestEnvironment.start({ clock, clientViews });
  environment.ready(await environment.pod(answering(() => response("hello"))));
  const client = environment.client();
  const got = client.get("/", "Connection: close\r\n");
  expect(await got).toContain("hello");
  let isDrained = false;
  const drained = environment.resolver.drain({ acceptFor: 0, within: "10m" }).then(() => {
    isDrained = true;
  });
  // It takes a little every 20 s.
  for (let round = 0; round < 10; round++) {
    unconfirmed -= 50_000;
    for (let second = 0; second < 20; second++) await clock.advance(1_000);
    expect(isDrained).toBe(false);
  }
  // And then nothing more.
  for (let second = 0; second < 35; second++) await clock.advance(1_000);
  await drained;
});

test.runIf(process.platform === "linux")(
  "of clients that wait with more than is read ahead there are only so many, and others have room",
  async () => {
    for (const [protocol, beginning] of [
      beginnings["a body with a length"],
      beginnings["a protocol that is not known"],
    ]) {
      const clock = new ManualClock();
      // One service has half of it: two clients that are paused, and a little more.
      const heldBytes = 2 * (2 * PAUSED_CLIENT_BYTES + 4_096);
      await using environment = await TestEnvironment.start({ clock, protocol, limits: { heldBytes } });
      const long = "x".repeat(200_000);
      const [first, second, third] = [environment.client(), environment.client(), environment.client()];
      first.send(beginning).send(long);
      second.send(beginning).send(long);
      await until(() => environment.traffic.held === 2);
      await new Promise((resolve) => setTimeout(resolve, 100));
      third.send(beginning).send(long);
      if (protocol === "auto") await third.gets("503 Service Unavailable");
      else await until(() => third.isClosed);
      const short = environment
        .client()
        .send(protocol === "auto" ? `${beginning.replace("5000000", "4")}some` : "some");
      await until(() => environment.traffic.held === 3);
      expect(short.received).toBe("");
      // One that leaves makes room for another.
      first.socket.resetAndDestroy();
      await isLeft(environment, clock, 2);
      const fourth = environment.client().send(beginning).send(long);
      await until(() => environment.traffic.held === 3);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(fourth.isClosed).toBe(false);
      expect(environment.traffic.held).toBe(3);
    }
  },
);
