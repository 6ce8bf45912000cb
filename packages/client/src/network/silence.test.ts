import { gzipSync } from "node:zlib";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { beforeAll, expect, test } from "vitest";
import { TransportError } from "../errors.ts";
import { readAll } from "../test-server.fixture.ts";
import type { TransportRequest } from "../transport.ts";
import { settleSockets, startRawServer } from "./raw-server.fixture.ts";
import { startRelay } from "./relay.fixture.ts";
import { networkTransport } from "./transport.ts";
import { startTunnels, trusting } from "./tunnels.fixture.ts";

const authority = createAuthority({ commonName: "ca", validFor: 86_400_000 });
const pair = authority.issue({
  commonName: "server",
  ipAddresses: ["127.0.0.1"],
  usages: ["server"],
  validFor: 86_400_000,
});
const material = { ca: authority.certificate };
const tls = { cert: pair.certificate, key: pair.key };

// A proxy is trusted as any server on the internet is.
beforeAll(() => trusting(authority.certificate));

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
const packed = Buffer.concat([gzipSync("first "), gzipSync("second")]);
const half = Math.floor(packed.length / 2);
const chunk = (data: Buffer | string) =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), Buffer.from(data), Buffer.from("\r\n")]);
const answers = {
  length: Buffer.from(`${head}content-length: 12\r\n\r\nfirst second`),
  chunks: Buffer.concat([
    Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n`),
    chunk("first "),
    chunk("second"),
    Buffer.from("0\r\n\r\n"),
  ]),
  gzip: Buffer.concat([
    Buffer.from(`${head}content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n`),
    chunk(packed.subarray(0, half)),
    chunk(packed.subarray(half)),
    Buffer.from("0\r\n\r\n"),
  ]),
};

const get: TransportRequest = { method: "GET", path: "/version", headers: {} };
const patch: TransportRequest = {
  method: "PATCH",
  path: "/",
  headers: {},
  body: "{}",
  guard: () => undefined,
};

/**
 * Each kind of exchange, and how many bytes apart the peer falls silent: a handshake is long, and
 * its bytes much alike.
 */
const exchanges = [
  { kind: "a body of known length", answer: answers.length, over: "http", request: get, stride: 1 },
  { kind: "a body in chunks", answer: answers.chunks, over: "http", request: get, stride: 1 },
  { kind: "a packed body", answer: answers.gzip, over: "http", request: get, stride: 1 },
  { kind: "TLS", answer: answers.length, over: "https", request: get, stride: 17 },
  { kind: "TLS under a guarded write", answer: answers.length, over: "https", request: patch, stride: 17 },
  { kind: "TLS in a tunnel", answer: answers.gzip, over: "tunnel", request: get, stride: 13 },
  {
    kind: "TLS in a tunnel under a guarded write",
    answer: answers.chunks,
    over: "tunnel",
    request: patch,
    stride: 13,
  },
  { kind: "TLS in TLS", answer: answers.gzip, over: "secure tunnel", request: get, stride: 43 },
  {
    kind: "TLS in TLS under a guarded write",
    answer: answers.chunks,
    over: "secure tunnel",
    request: patch,
    stride: 47,
  },
] as const;

/** The error for a peer that falls silent before the body, part by part of the exchange. */
const stages = {
  http: ["connected, but no answer within 70000 ms"],
  https: [
    "no connection within 10000 ms: still waiting for the TLS handshake",
    "connected, but no answer within 70000 ms",
  ],
  tunnel: [
    "no connection within 10000 ms: still waiting for the proxy's answer to CONNECT",
    "no connection within 10000 ms: still waiting for the TLS handshake",
    "connected, but no answer within 70000 ms",
  ],
  "secure tunnel": [
    "no connection within 10000 ms: still waiting for the TLS handshake",
    "no connection within 10000 ms: still waiting for the proxy's answer to CONNECT",
    "connected, but no answer within 70000 ms",
  ],
};

/** A minute and a half more than all limits of one request together. */
const LONGEST_S = 10 + 70 + 60 + 90;

test.each(exchanges)(
  "a peer that falls silent at any byte of $kind is abandoned in limited time, and nothing is left of it",
  async ({ answer, over, request, stride }) => {
    await using server = await startRawServer(
      (_, socket) => {
        // Two records of TLS, so that a silence may lie between them.
        const at = answer.indexOf("\r\n\r\n") + 6;
        socket.write(answer.subarray(0, at));
        socket.write(answer.subarray(at));
      },
      over === "http" ? undefined : tls,
    );
    await using proxy = await startTunnels(over === "secure tunnel" ? tls : undefined);
    const isTunnelled = over === "tunnel" || over === "secure tunnel";
    await using relay = await startRelay(isTunnelled ? proxy.port : server.port);
    const scheme = over === "secure tunnel" ? "https" : "http";

    /**
     * One exchange through the relay. Resolves with what was read, or with the error and the
     * seconds until then.
     */
    const exchange = async () => {
      const clock = new ManualClock();
      const transport = networkTransport({
        server: isTunnelled ? server.url : server.url.replace(/\d+$/, String(relay.port)),
        tls: () => material,
        clock,
        ...(isTunnelled ? { proxy: new URL(`${scheme}://127.0.0.1:${relay.port}`) } : {}),
      });
      let end: string | Error | undefined;
      transport
        .request(request)
        .then(async ({ body }) => (await readAll(body)).toString())
        .then(
          (text) => {
            end = text;
          },
          (error: Error) => {
            end = error;
          },
        );
      // Time stands still until the peer has fallen silent, and passes then.
      const { silences } = relay;
      while (end === undefined && relay.silences === silences) await settleSockets(1);
      await settleSockets(4);
      for (let passed = 0; end === undefined && passed < LONGEST_S; passed += 5) {
        await clock.advance(5_000);
        await settleSockets(2);
      }
      await transport.close();
      await expect.poll(() => relay.open.size, { interval: 1 }).toBe(0);
      expect(clock.pending, "timers left").toBe(0);
      return end;
    };

    expect(await exchange()).toBe("first second");
    const whole = relay.bytes;
    const seen = new Set<string>();
    for (let bytes = 0; bytes < whole - stride; bytes += stride) {
      relay.mostBytes = bytes;
      const end = await exchange();
      // Signatures and session tickets vary by some bytes, so the very last may be more than it
      // needs.
      if (end === "first second") {
        expect(whole - bytes, `silent after ${bytes} of ${whole} bytes`).toBeLessThan(stride + 32);
        continue;
      }
      expect(end, `silent after ${bytes} of ${whole} bytes`).toBeInstanceOf(TransportError);
      const { message } = end as TransportError;
      seen.add(message.replace(/^(GET|PATCH) https?:\/\/127\.0\.0\.1:\d+\/\S*: /, ""));
    }
    expect([...seen]).toEqual([...stages[over], "nothing came for 60000 ms; the peer counts as dead"]);
  },
  60_000,
);
