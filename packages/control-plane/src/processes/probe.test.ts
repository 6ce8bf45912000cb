import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { ManualClock } from "@windlass/clock";
import type { Container } from "@windlass/kinds/builtin";
import { afterEach, expect, test } from "vitest";
import { type ProbeTarget, probeOnce, startProbe } from "./probe.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listening<S extends Server>(server: S): Promise<number> {
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const target = (container: Partial<Container> = {}): ProbeTarget => ({
  address: "127.0.0.1",
  container: { name: "main", ...container },
  exec: (command) =>
    Promise.resolve({ code: command[0] === "true" ? 0 : 3, output: `ran ${command.join(" ")}` }),
});

test("an HTTP probe succeeds with any answer below 400, and sends what it is told to", async () => {
  const asked: string[] = [];
  const port = await listening(
    createServer((request, answer) => {
      asked.push(`${request.headers.host?.split(":")[0]} ${request.url} ${String(request.headers["x-who"])}`);
      answer.statusCode = request.url === "/sick" ? 500 : request.url === "/moved" ? 302 : 200;
      answer.end();
    }),
  );
  const named = target({ ports: [{ name: "http", containerPort: port }] });
  const httpHeaders = [{ name: "X-Who", value: "probe" }];
  const outcome = async (path: string) =>
    await probeOnce({ httpGet: { path, port: "http", httpHeaders } }, named, 1_000);
  expect(await outcome("/fine")).toEqual({ outcome: "success", output: "" });
  expect(await outcome("/moved")).toMatchObject({ outcome: "success" });
  expect(await outcome("/sick")).toEqual({
    outcome: "failure",
    output: "HTTP probe failed with statuscode: 500",
  });
  expect(asked[0]).toBe("127.0.0.1 /fine probe");
});

test("a probe of what does not answer, or has no such port, fails in words", async () => {
  const silent = await listening(createServer(() => undefined));
  expect(await probeOnce({ httpGet: { port: silent } }, target(), 50)).toEqual({
    outcome: "failure",
    output: expect.stringContaining("context deadline exceeded"),
  });
  expect(await probeOnce({ tcpSocket: { port: "nowhere" } }, target(), 50)).toEqual({
    outcome: "failure",
    output: 'couldn\'t find port: "nowhere"',
  });
  expect(await probeOnce({ tcpSocket: { port: silent } }, target(), 1_000)).toMatchObject({
    outcome: "success",
  });
  expect(await probeOnce({ exec: { command: ["false"] } }, target(), 50)).toEqual({
    outcome: "failure",
    output: "ran false",
  });
});

test("a gRPC probe asks the health service, by its name", async () => {
  const asked: Buffer[] = [];
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    stream.on("data", (chunk: Buffer) => asked.push(chunk));
    stream.once("end", () => {
      const serving = Buffer.concat(asked.splice(0)).includes("db") ? 1 : 2;
      expect(headers[":path"]).toBe("/grpc.health.v1.Health/Check");
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.from([0, 0, 0, 0, 2, 8, serving]));
    });
  });
  const port = await listening(server as unknown as Server);
  expect(await probeOnce({ grpc: { port, service: "db" } }, target(), 1_000)).toMatchObject({
    outcome: "success",
  });
  expect(await probeOnce({ grpc: { port } }, target(), 1_000)).toMatchObject({ outcome: "failure" });
});

test("a probe waits for its delay and its period, and what it shows adds up", async () => {
  const clock = new ManualClock();
  const seen: string[] = [];
  const stop = new AbortController();
  let healthy = true;
  startProbe({
    kind: "liveness",
    spec: { exec: { command: ["x"] }, initialDelaySeconds: 5, periodSeconds: 2, failureThreshold: 2 },
    target: { ...target(), exec: () => Promise.resolve({ code: healthy ? 0 : 1, output: "" }) },
    clock,
    signal: stop.signal,
    onOutcome: (verdict, { outcome }) => seen.push(`${clock.monotonic() / 1_000}s ${outcome}: ${verdict}`),
  });
  await clock.advance(6_000);
  healthy = false;
  await clock.advance(4_000);
  stop.abort();
  await clock.advance(10_000);
  expect(seen).toEqual(["5s success: success", "7s failure: success", "9s failure: failure"]);
  expect(clock.pending).toBe(0);
});
