import { connect, type Socket } from "node:net";
import { type Clock, ManualClock, seededRandom, systemClock } from "@windlass/clock";
import { expect, test } from "vitest";
import type { TransportError } from "../errors.ts";
import { retry } from "../intercept/retry.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import { AbortGroups } from "./abort-groups.ts";
import { Exchange } from "./exchange.ts";
import { Pool } from "./pool.ts";
import { startRawServer } from "./raw-server.fixture.ts";

const post: TransportRequest = { method: "POST", path: "/", headers: {}, body: "{}" };
const head = "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n";

/** Every code that Node reports of a connection, and one that it does not. */
const codes = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "EPROTO",
  "ERR_SSL_SOMETHING",
  "EWHATEVER",
];

/**
 * A transport over connections that fail with an error of the test's choosing: before they are
 * established, or once the request is there.
 */
async function failing(when: "connecting" | "sent", code: string) {
  const clock = new ManualClock();
  const sockets: Socket[] = [];
  const error = () => Object.assign(new Error(code), { code });
  const server = await startRawServer(() => sockets.at(-1)?.destroy(error()));
  const pool = new Pool((dialing) => {
    const socket = connect(server.port, "127.0.0.1");
    sockets.push(socket);
    socket.once("connect", () => (when === "sent" ? dialing.ready(socket) : socket.destroy(error())));
    return socket;
  });
  const timeouts = { connect: 1, headers: 1, idle: 1 };
  const settings = { clock, timeouts, described: server.url, aborts: new AbortGroups() };
  let sends = 0;
  const network: Transport = {
    request: (request) => {
      sends++;
      return new Exchange(request, head, pool, settings).response;
    },
    close: async () => pool.retire(),
  };
  const transport = retry({ clock: eagerClock, random: seededRandom(1) })(network);
  return {
    transport,
    get sends() {
      return sends;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** For the waits between repetitions, which are not what is tested here. */
const eagerClock: Clock = {
  ...systemClock,
  schedule: (_ms: number, task: () => void) => {
    const timer = setImmediate(task);
    return () => clearImmediate(timer);
  },
};

test.each(codes)("a write is not repeated after %s once it was sent", async (code) => {
  await using net = await failing("sent", code);
  const error = await net.transport.request(post).catch((it: TransportError) => it);
  expect(error).toMatchObject({ name: "TransportError", mayHaveBeenSent: true });
  expect(net.sends).toBe(1);
});

test.each(codes)("a write that met %s before it was sent may be repeated", async (code) => {
  await using net = await failing("connecting", code);
  const error = await net.transport.request(post).catch((it: TransportError) => it);
  expect(error).toMatchObject({ name: "TransportError", mayHaveBeenSent: false });
  if (code === "EHOSTUNREACH") expect(net.sends).toBe(5);
});
