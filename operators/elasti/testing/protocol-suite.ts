import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { NamespacedKey } from "@windlass/client";
import { type ContainerInput, Deployment, Service } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { expect, test } from "vitest";
import { ElastiService } from "../src/service/elasti-service.ts";
import { askOnce, startLoad, untilAnswered } from "./load.ts";
import { phase, sendToSleep, type TrafficEnvironment } from "./traffic-suite.ts";

/**
 * What a pod runs: HTTP and WebSockets that echo on 8080; on 9090 a protocol in which the server
 * speaks first, and answers with the hash of what it was sent once the client has ended its side.
 */
const server = `
  const { createHash } = require("node:crypto");
  const http = require("node:http").createServer((asked, answer) => asked.resume().on("end", () => answer.end("ok")));
  http.on("upgrade", (asked, socket) => {
    const key = asked.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const accept = createHash("sha1").update(key).digest("base64");
    socket.setNoDelay(true);
    socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n");
    let held = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
      held = Buffer.concat([held, bytes]);
      // Frames of up to 125 bytes, masked: opcode, length, four bytes of mask.
      while (held.length >= 6 && held.length >= 6 + (held[1] & 127)) {
        const length = held[1] & 127;
        const said = Buffer.from(held.subarray(6, 6 + length).map((byte, at) => byte ^ held[2 + (at & 3)]));
        socket.write(Buffer.concat([Buffer.from([held[0], length]), said]));
        if ((held[0] & 15) === 8) socket.end();
        held = held.subarray(6 + length);
      }
    });
  });
  http.listen(8080);
  require("node:net").createServer({ allowHalfOpen: true }, (socket) => {
    const hash = createHash("sha256");
    socket.write("220 ready\\r\\n");
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => hash.update(bytes)).on("end", () => socket.end(hash.digest("hex")));
  }).listen(9090);
  process.on("SIGTERM", () => process.exit());
`;

/**
 * HTTP on 8080 by a server that drains: asked to end, it goes on for as long as clients keep
 * connections, and asks each with its next answer to make another.
 */
const drainingServer = `
  const sockets = new Set();
  let isEnding = false;
  const http = require("node:http").createServer((asked, answer) => asked.resume().on("end", () => {
    // Long enough for some to be under way at any time.
    setTimeout(() => {
      if (isEnding) answer.setHeader("connection", "close");
      answer.end("ok");
    }, 100);
  }));
  http.on("connection", (socket) => sockets.add(socket.on("close", () => sockets.delete(socket))));
  http.listen(8080);
  process.on("SIGTERM", () => {
    isEnding = true;
    setInterval(() => sockets.size === 0 && process.exit(), 50);
  });
`;

/** Answers a path probe with its own fields, in the head and in the body. */
const echoingServer = `
  require("node:http").createServer((asked, answer) => asked.resume().on("end", () => {
    const nonce = asked.headers["elasti-path-probe"];
    if (nonce === undefined) return answer.end("ok");
    answer.setHeader("elasti-path-probe", nonce);
    answer.end(JSON.stringify(asked.headers));
  })).listen(8080);
  process.on("SIGTERM", () => process.exit());
`;

const wait = { timeout: 90_000 };
const frames = 1_000;

/** A cluster that runs Node in pods. */
export interface ProtocolEnvironment extends Pick<TrafficEnvironment, "client" | "namespace"> {
  /** A container whose command takes a program as its last argument: `node -e`. */
  readonly node: Pick<ContainerInput, "image"> & { readonly command: readonly string[] };
}

/**
 * What holds of protocols other than HTTP, and of servers that end in their own way, wherever pods
 * run for real.
 */
export function protocolSuite(environment: () => ProtocolEnvironment): void {
  test("a forced sleep loses nothing on connections that clients keep for ever, if the pod drains them", {
    timeout: 240_000,
  }, async () => {
    const { client } = environment();
    const { key, address } = await asleep(environment(), "draining", drainingServer);
    const url = `http://${address}:8000/`;
    await untilAnswered(url);
    await phase(client, key, "Serving");
    const load = startLoad(url, 100, { connectionMs: Number.POSITIVE_INFINITY });
    for (let cycle = 0; cycle < 2; cycle++) {
      const waking = phase(client, key, "Waking");
      await sendToSleep(client, key);
      await waking;
      await phase(client, key, "Serving");
    }
    const { sent, ok, failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(ok).toBe(sent);
  });

  test("a pod that repeats what it is sent is not taken for the resolver: it sleeps and wakes without loss", {
    timeout: 240_000,
  }, async () => {
    const { client } = environment();
    const { key, address } = await asleep(environment(), "echoing", echoingServer);
    const url = `http://${address}:8000/`;
    expect(await askOnce(url)).toMatchObject({ status: 200 });
    await phase(client, key, "Serving");
    const load = startLoad(url, 50);
    for (let cycle = 0; cycle < 2; cycle++) {
      const waking = phase(client, key, "Waking");
      await sendToSleep(client, key);
      await waking;
      await phase(client, key, "Serving");
    }
    const { sent, ok, failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(ok).toBe(sent);
  });

  test("a WebSocket waits for its pod, and stays when the Service leads past the resolver", {
    timeout: 120_000,
  }, async () => {
    const { client } = environment();
    const { key, address } = await asleep(environment(), "sockets");
    const socket = new WebSocket(`ws://${address}:8000/ws`);
    const inbox: string[] = [];
    let arrived = Promise.withResolvers<void>();
    socket.addEventListener("message", ({ data }) => {
      inbox.push(String(data));
      arrived.resolve();
    });
    const opened = await Promise.race([once(socket, "open").then(() => "open"), closeOf(socket)]);
    expect(opened).toBe("open");
    const talk = async (from: number, to: number) => {
      for (let frame = from; frame < to; frame++) {
        arrived = Promise.withResolvers();
        socket.send(`frame ${frame}`);
        await arrived.promise;
        expect(inbox.at(-1)).toBe(`frame ${frame}`);
      }
    };
    await talk(0, frames / 2);
    await phase(client, key, "Serving");
    await talk(frames / 2, frames);
    expect(inbox).toHaveLength(frames);
    const closed = closeOf(socket);
    socket.close(1000);
    expect(await closed).toBe("closed with 1000");
  });

  test("a connection whose server speaks first waits for its pod, and each side ends by itself", {
    timeout: 120_000,
  }, async () => {
    const { address } = await asleep(environment(), "banner");
    const socket = connect({ host: address, port: 9_000, allowHalfOpen: true });
    const received = text(socket);
    await once(socket, "connect");
    const sent = randomBytes(1_000_000);
    socket.end(sent);
    expect(await received).toBe(`220 ready\r\n${createHash("sha256").update(sent).digest("hex")}`);
  });
}

async function closeOf(socket: WebSocket): Promise<string> {
  const [{ code }] = (await once(socket, "close")) as [CloseEvent];
  return `closed with ${code}`;
}

/** Makes a target with a port of HTTP and one of raw TCP, and puts it to sleep. */
async function asleep(
  { client, namespace, node }: ProtocolEnvironment,
  name: string,
  program = server,
): Promise<{ readonly key: NamespacedKey; readonly address: string }> {
  const key = { namespace, name };
  const labels = { app: name };
  const container = {
    ...node,
    name: "main",
    command: [...node.command, program],
    readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
  };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  await client.create(Deployment, {
    metadata: key,
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  const ports = [
    { name: "http", port: 8_000, targetPort: 8_080 },
    { name: "banner", port: 9_000, targetPort: 9_090 },
  ];
  const { spec } = await client.create(Service, { metadata: key, spec: { selector: labels, ports } });
  await waitFor(client, Deployment, key, ({ status }) => status?.readyReplicas === 1, wait);
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  await client.create(ElastiService, { metadata: key, spec: { scaleTargetRef, service: name } });
  const address = spec?.clusterIP ?? "";
  await untilAnswered(`http://${address}:8000/`);
  expect((await askOnce(`http://${address}:8000/`)).body).toBe("ok");
  await sendToSleep(client, key);
  await phase(client, key, "Asleep");
  return { key, address };
}
