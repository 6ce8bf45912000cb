import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { data, framesIn, headers, preface, settings } from "./http2/frames.fixture.ts";
import { TestEnvironment, until } from "./test-environment.fixture.ts";

type Fields = readonly (readonly [name: string, value: string])[];

/** Frames that a pod answers a stream with. */
type Reply = (stream: number) => readonly Buffer[];

/** The number of the last stream that a client has opened in these bytes. */
function lastStream(received: Buffer): number {
  const opened = framesIn(received.subarray(preface.length)).filter((frame) => frame.startsWith("headers("));
  return Number(/\d+/.exec(opened.at(-1) ?? "")?.[0] ?? 0);
}

/** A pod of HTTP/2 that answers each stream with the frames that a test chooses, and then ends. */
async function http2Pod(environment: TestEnvironment, reply: () => Reply) {
  return await environment.pod((socket) => {
    socket.write(settings);
    let received = Buffer.alloc(0);
    let answered = 0;
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const stream = lastStream(received);
      if (stream <= answered) return;
      answered = stream;
      socket.end(Buffer.concat(reply()(stream)));
    });
  });
}

function session(port: number): ClientHttp2Session {
  const made = connect(`http://127.0.0.1:${port}`);
  made.on("error", () => made.destroy());
  onTestFinished(() => made.destroy());
  return made;
}

/** Sends a request, and waits for its end. @returns the head of its response, if there was one */
async function ask(client: ClientHttp2Session): Promise<IncomingHttpHeaders | undefined> {
  const stream = client.request({ ":path": "/", ":method": "POST" });
  let head: IncomingHttpHeaders | undefined;
  stream.on("response", (received) => {
    head = received;
  });
  const closed = new Promise<void>((resolve) => stream.on("close", resolve));
  stream.on("error", () => stream.destroy());
  stream.resume();
  stream.end("body");
  await closed;
  return head;
}

const respond =
  (status: string, fields: Fields = [], isEnd = true): Reply =>
  (stream) => [headers(stream, [[":status", status], ...fields], isEnd)];

test.for(["600", "999", "700"])(
  "a pod's status %s is answered with 502, and harms no other request",
  async (status) => {
    await using environment = await TestEnvironment.start();
    environment.ready(await http2Pod(environment, () => respond(status)));
    const client = session(environment.port);
    expect(await ask(client)).toMatchObject({ ":status": 502 });
    environment.ready(await http2Pod(environment, () => respond("204")));
    expect(await ask(client)).toMatchObject({ ":status": 204 });
    expect(environment.traffic).toMatchObject({ held: 0, inFlight: 0 });
  },
);

test("an interim response that cannot be passed on is left out, and what follows is passed on", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await http2Pod(environment, () => (stream) => [
      headers(stream, [[":status", "100"]], false),
      headers(stream, [[":status", "199"]], false),
      headers(stream, [[":status", "200"]], false),
      data(stream, "answer"),
      headers(stream, [["x-sum", "1"]], true),
    ]),
  );
  expect(await ask(session(environment.port))).toMatchObject({ ":status": 200 });
});

const status = fc.oneof(
  fc.integer({ min: 0, max: 999 }).map((number) => String(number).padStart(3, "0")),
  fc.constantFrom(
    "100",
    "101",
    "103",
    "199",
    "204",
    "205",
    "304",
    "599",
    "600",
    "999",
    "-1",
    "2e2",
    "20",
    "",
  ),
);
const name = fc.oneof(
  fc.constantFrom(
    ":status",
    ":path",
    ":protocol",
    "connection",
    "content-length",
    "content-type",
    "date",
    "host",
    "keep-alive",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "Upper",
    "__proto__",
    "constructor",
    "",
  ),
  fc.string({ maxLength: 20, unit: "binary-ascii" }),
);
const value = fc.oneof(
  fc.constantFrom("", "0", "5", "-1", "trailers", "gzip", "close", "a\r\nb: c", "\0"),
  fc.string({ maxLength: 30, unit: "binary-ascii" }),
);
const fields = fc.array(fc.tuple(name, value), { maxLength: 4 });
const frames = fc.array(
  fc.oneof(
    fc.tuple(status, fields, fc.boolean()).map(
      ([code, more, isEnd]) =>
        (stream: number) =>
          headers(stream, [[":status", code], ...more], isEnd),
    ),
    fc.tuple(fields, fc.boolean()).map(
      ([more, isEnd]) =>
        (stream: number) =>
          headers(stream, more, isEnd),
    ),
    fc.string({ maxLength: 50 }).map((text) => (stream: number) => data(stream, text)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => () => Buffer.from(bytes)),
  ),
  { minLength: 1, maxLength: 4 },
);

test("whatever frames a pod sends, its requests end, and the resolver goes on", {
  timeout: 60_000,
}, async () => {
  await using environment = await TestEnvironment.start();
  let reply: Reply = respond("204");
  environment.ready(await http2Pod(environment, () => reply));
  const client = session(environment.port);
  await fc.assert(
    fc.asyncProperty(frames, async (chosen) => {
      reply = (stream) => chosen.map((frame) => frame(stream));
      await ask(client);
      await until(() => environment.traffic.inFlight === 0 && environment.traffic.held === 0);
    }),
    { numRuns: 300 },
  );
  reply = respond("204");
  expect(await ask(client)).toMatchObject({ ":status": 204 });
});

const lines = fc.array(
  fc.oneof(
    fc.tuple(name, value).map(([field, text]) => `${field}: ${text}`),
    fc.string({ maxLength: 30, unit: "binary-ascii" }),
  ),
  { maxLength: 4 },
);
const answer = fc
  .tuple(
    fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2", "ICY"),
    status,
    lines,
    fc.string({ maxLength: 40, unit: "binary-ascii" }),
  )
  .map(([version, code, more, body]) => `${version} ${code} x\r\n${more.join("\r\n")}\r\n\r\n${body}`);

test("whatever a pod of HTTP/1 answers, its client gets an answer or an end, and the resolver goes on", {
  timeout: 60_000,
}, async () => {
  await using environment = await TestEnvironment.start();
  let text = "";
  environment.ready(
    await environment.pod((socket) => {
      socket.once("data", () => socket.end(text, "latin1"));
    }),
  );
  await fc.assert(
    fc.asyncProperty(answer, async (chosen) => {
      text = chosen;
      const client = environment.client();
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      await until(() => client.hasEnded || client.isClosed || client.received.includes("\r\n\r\n"));
      client.socket.destroy();
      await until(() => environment.traffic.inFlight === 0 && environment.traffic.held === 0);
    }),
    { numRuns: 300 },
  );
  text = "HTTP/1.1 204 No Content\r\n\r\n";
  const client = environment.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  await client.gets("204");
});
