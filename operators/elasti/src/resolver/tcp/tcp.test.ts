import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { freePort, TestEnvironment, until } from "../test-environment.fixture.ts";

test("raw bytes of a client that speaks first are held, and passed on both ways until both sides end", async () => {
  await using environment = await TestEnvironment.start();
  const client = environment.client().send("\x00\x01hello");
  await until(() => environment.traffic.held === 1 && environment.wakes.length === 1);
  client.send(" more");
  client.socket.end();
  let received = "";
  environment.ready(
    await environment.pod((socket) => {
      socket.on("data", (bytes: Buffer) => {
        received += bytes.toString("latin1");
      });
      // Half-close: the pod answers after the client's side has ended.
      socket.on("end", () => socket.end("bye"));
    }),
  );
  await client.gets("bye");
  expect(received).toBe("\x00\x01hello more");
  await until(() => client.hasEnded && environment.traffic.inFlight === 0);
});

test("100 MB arrive as they were sent", async () => {
  await using environment = await TestEnvironment.start({ protocol: "tcp" });
  const digest = createHash("sha256");
  let result = "";
  environment.ready(
    await environment.pod((socket) => {
      socket.on("data", (bytes: Buffer) => digest.update(bytes));
      socket.on("end", () => {
        result = digest.digest("hex");
        socket.end("got it");
      });
    }),
  );
  const client = environment.client();
  const expected = createHash("sha256");
  const block = Buffer.alloc(1024 * 1024);
  for (let count = 0; count < 100; count++) {
    block.fill(count);
    expected.update(block);
    if (!client.socket.write(Buffer.from(block))) await once(client.socket, "drain");
  }
  client.socket.end();
  await client.gets("got it");
  expect(result).toBe(expected.digest("hex"));
});

test("a server that speaks first is woken by a client that sends nothing, and reaches it", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const client = environment.client();
  await once(client.socket, "connect");
  // Until the resolver has the connection too, its clock has nothing to do but to look after it.
  await until(() => clock.pending > 1);
  expect(environment.traffic.held).toBe(0);
  await clock.advance(1_000);
  expect(environment.traffic.held).toBe(1);
  environment.ready(
    await environment.pod((socket) => {
      socket.write("220 ready\r\n");
      socket.on("data", (bytes: Buffer) => socket.write(`got ${bytes.toString()}`));
    }),
  );
  await client.gets("220 ready");
  await client.send("EHLO me").gets("got EHLO me");
});

test("a port of raw TCP wakes its target by a connection alone, and tries endpoints until one takes it", async () => {
  await using environment = await TestEnvironment.start({ protocol: "tcp" });
  const client = environment.client();
  await until(() => environment.traffic.held === 1);
  const dead = { address: "127.0.0.1", port: await freePort(), podUid: "dead" };
  const live = await environment.pod((socket) => void socket.write("banner"), "live");
  environment.ready(dead, live);
  await client.gets("banner");
});

test("a connection that waits too long, or is reset meanwhile, leaves nothing behind", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({
    clock,
    protocol: "tcp",
    target: { limits: { holdMs: 1_000 } },
  });
  const [late, gone] = [environment.client(), environment.client()];
  await until(() => environment.traffic.held === 2);
  gone.socket.resetAndDestroy();
  await until(() => environment.traffic.held === 1);
  await clock.advance(1_000);
  await until(() => late.isClosed);
  expect(late.error?.code).toBe("ECONNRESET");
  expect(environment.traffic).toMatchObject({ held: 0, inFlight: 0 });
});

test("TLS is passed on unread, on a service's port and by its server name on the shared one", async () => {
  const sharedPort = await freePort();
  await using environment = await TestEnvironment.start({ sharedPort });
  const authority = createAuthority({ commonName: "test", validFor: 86_400_000 });
  const { certificate, key } = authority.issue({
    commonName: "any.example",
    dnsNames: ["any.example"],
    usages: ["server"],
    validFor: 3_600_000,
  });
  const server = createTlsServer({ cert: certificate, key }, (socket) => void socket.end("secret"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const visit = async (port: number, servername: string) => {
    const socket: TLSSocket = connectTls({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString();
    });
    await Promise.race([once(socket, "end"), once(socket, "error")]).catch(() => undefined);
    socket.destroy();
    return received;
  };
  const held = visit(environment.port, "any.example");
  await until(() => environment.traffic.held === 1);
  environment.ready({ address: "127.0.0.1", port: address.port, podUid: "tls" });
  expect(await held).toBe("secret");
  expect(await visit(sharedPort, "web.shop.svc.cluster.local")).toBe("secret");
  expect(await visit(sharedPort, "other.example")).toBe("");
  server.close();
});
