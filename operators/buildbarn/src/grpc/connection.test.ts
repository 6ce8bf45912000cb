import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { finish, frame, GrpcServer } from "../../testing/grpc-server.ts";
import { failureIn, GrpcConnection, messagesOf } from "./connection.ts";
import { GrpcError } from "./error.ts";
import { integer, message, text } from "./message.ts";

const Words = message({ text: [1, text], count: [2, integer] });
const echo = { path: "/test.Echo/Echo", request: Words, response: Words };
const raw = { path: "/test.Echo/Raw", request: Words, response: Words };

let server: GrpcServer;
beforeAll(async () => {
  server = await GrpcServer.start();
  server.on(echo, function* ({ text: said, count }) {
    if (said.startsWith("fail")) throw new GrpcError("FAILED_PRECONDITION", said);
    for (let index = 0; index < count; index++) yield { text: said, count: index };
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const soon = () => AbortSignal.timeout(5_000);

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => new Error("it succeeded"),
    (error: unknown) => error,
  );
}

test("a call has its answer", async () => {
  using connection = new GrpcConnection(server.address);
  expect(await connection.call(echo, { text: "a", count: 1 }, soon())).toEqual({ text: "a", count: 0 });
});

test("a stream has its answers, in their order, and a connection serves several at a time", async () => {
  using connection = new GrpcConnection(server.address);
  const counts = async (count: number) =>
    (await Array.fromAsync(connection.stream(echo, { text: "a", count }, soon()))).map((one) => one.count);
  expect(await Promise.all([counts(3), counts(0), counts(1_000)])).toEqual([
    [0, 1, 2],
    [],
    Array.from({ length: 1_000 }, (_, index) => index),
  ]);
});

test("a failure has the server's code and words, whatever letters they have", async () => {
  using connection = new GrpcConnection(server.address);
  const error = await failureOf(connection.call(echo, { text: "fail: ü 100%" }, soon()));
  expect(error).toMatchObject({ code: "FAILED_PRECONDITION", message: "/test.Echo/Echo: fail: ü 100%" });
});

test("a method that the server does not have is UNIMPLEMENTED", async () => {
  using connection = new GrpcConnection(server.address);
  const nothing = { ...echo, path: "/test.Echo/Nothing" };
  expect(await failureOf(connection.call(nothing, {}, soon()))).toMatchObject({ code: "UNIMPLEMENTED" });
});

test("a server that is not there is UNAVAILABLE, and is found when it comes", async () => {
  const first = await GrpcServer.start();
  const { address } = first;
  await first[Symbol.asyncDispose]();
  using connection = new GrpcConnection(address);
  const error = await failureOf(connection.call(echo, { count: 1 }, soon()));
  expect(error).toBeInstanceOf(GrpcError);
  expect(error).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("ECONNREFUSED") });
  await using second = await GrpcServer.start(Number(address.split(":")[1]));
  second.on(echo, () => [{ text: "back" }]);
  expect(await connection.call(echo, {}, soon())).toMatchObject({ text: "back" });
});

test("a server that ends in the middle of an answer is UNAVAILABLE", async () => {
  const dying = await GrpcServer.start();
  const asked = Promise.withResolvers<void>();
  dying.raw(raw.path, async (_, stream) => {
    stream.write(frame(Words.encode({ text: "first" })));
    asked.resolve();
    await new Promise<void>((resolve) => stream.on("close", () => resolve()));
  });
  using connection = new GrpcConnection(dying.address);
  const failing = failureOf(connection.call(raw, {}, soon()));
  await asked.promise;
  await dying[Symbol.asyncDispose]();
  expect(await failing).toMatchObject({ code: "UNAVAILABLE" });
});

test("a call that is given up ends with the signal's reason", async () => {
  await using silent = await GrpcServer.start();
  silent.raw(raw.path, () => new Promise(() => undefined));
  using connection = new GrpcConnection(silent.address);
  const stop = new AbortController();
  const failing = failureOf(connection.call(raw, {}, stop.signal));
  stop.abort(new Error("enough"));
  expect(await failing).toMatchObject({ message: "enough" });
  expect(await failureOf(connection.call(raw, {}, stop.signal))).toMatchObject({ message: "enough" });
});

test("a call is given up while its connection is still being made", async () => {
  // It takes connections, and never answers a handshake.
  const silent = createServer();
  const accepted: Socket[] = [];
  silent.on("connection", (socket) => accepted.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  using connection = new GrpcConnection(`127.0.0.1:${port}`, { authorities: "" });
  try {
    const call = (words: string) => {
      const stop = new AbortController();
      const failing = failureOf(connection.call(raw, {}, stop.signal));
      setTimeout(() => stop.abort(new Error(words)), 50);
      return failing;
    };
    expect(await call("enough")).toMatchObject({ message: "enough" });
    expect(await Promise.all([call("one"), call("other")])).toMatchObject([
      { message: "one" },
      { message: "other" },
    ]);
  } finally {
    for (const socket of accepted) socket.destroy();
    silent.close();
  }
});

test.for([
  ["a malformed message", Buffer.from([0, 0, 0, 0, 1, 0xff]), "INTERNAL"],
  ["a compressed message", Buffer.from([1, 0, 0, 0, 0]), "INTERNAL"],
  ["a message beyond all bounds", Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), "RESOURCE_EXHAUSTED"],
  ["no message", Buffer.alloc(0), "INTERNAL"],
] as const)("%s is an error with a code", async ([, bytes, code]) => {
  await using odd = await GrpcServer.start();
  odd.raw(raw.path, async (_, stream) => {
    stream.write(bytes);
    finish(stream, { "grpc-status": "0" });
  });
  using connection = new GrpcConnection(odd.address);
  expect(await failureOf(connection.call(raw, {}, soon()))).toMatchObject({ code });
});

test("what is no gRPC is UNAVAILABLE, and names the status that it has", () => {
  expect(failureIn({ ":status": 503 }, "/a/B")).toMatchObject({
    code: "UNAVAILABLE",
    message: "/a/B: HTTP status 503, and no gRPC status",
  });
});

test("messages are the same however their bytes are cut", async () => {
  const cuts = fc.array(fc.nat({ max: 40 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 30 })), cuts, async (sent, lengths) => {
      const whole = Buffer.concat(sent.map((one) => frame(Buffer.from(one))));
      const chunks = async function* () {
        for (let at = 0, index = 0; at < whole.length; index++) {
          const length = Math.max(1, lengths[index % lengths.length] ?? 1);
          yield whole.subarray(at, at + length);
          at += length;
        }
      };
      const received = await Array.fromAsync(messagesOf(chunks()));
      expect(received.map((one) => [...one])).toEqual(sent.map((one) => [...one]));
    }),
  );
});
