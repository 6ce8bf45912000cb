import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect as connectSocket } from "node:net";
import { ManualClock } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { PAUSED_CLIENT_BYTES } from "../hold/held-bytes.ts";
import type { Endpoint } from "../targets.ts";
import { freePort, TestEnvironment, until } from "../test-environment.fixture.ts";
import { data, framesIn, headers, preface, settings } from "./frames.fixture.ts";

/** A pod that speaks HTTP/2 without TLS. */
async function grpcPod(
  serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
): Promise<Endpoint> {
  const server = createServer();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => stream.destroy());
    serve(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { address: "127.0.0.1", port: (server.address() as AddressInfo).port, podUid: "h2" };
}

function session(port: number): ClientHttp2Session {
  const made = connect(`http://127.0.0.1:${port}`);
  made.on("error", () => made.destroy());
  onTestFinished(() => made.destroy());
  return made;
}

/** What a stream was answered with. */
class Answer {
  readonly stream: ClientHttp2Stream;
  headers: IncomingHttpHeaders | undefined;
  trailers: IncomingHttpHeaders | undefined;
  body = "";
  isClosed = false;

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    stream.on("response", (headers) => {
      this.headers = headers;
    });
    stream.on("trailers", (trailers) => {
      this.trailers = trailers;
    });
    stream.on("data", (bytes: Buffer) => {
      this.body += bytes.toString();
    });
    stream.on("error", () => stream.destroy());
    stream.on("close", () => {
      this.isClosed = true;
    });
  }

  async closed(): Promise<this> {
    await until(() => this.isClosed);
    return this;
  }
}

const call: OutgoingHttpHeaders = {
  ":method": "POST",
  ":path": "/shop.Cart/Add",
  "content-type": "application/grpc",
  te: "trailers",
};

test("a call waits for its target, and gets headers, messages and trailers", async () => {
  await using environment = await TestEnvironment.start();
  const answer = new Answer(session(environment.port).request(call, { endStream: false }));
  answer.stream.end("question");
  await until(() => environment.traffic.held === 1 && environment.wakes.length === 1);
  let seen: IncomingHttpHeaders = {};
  environment.ready(
    await grpcPod((stream, headers) => {
      seen = headers;
      let body = "";
      stream.on("data", (bytes: Buffer) => {
        body += bytes.toString();
      });
      stream.on("end", () => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-sum": "1" }));
        stream.end(`answer to ${body}`);
      });
    }),
  );
  await answer.closed();
  expect(answer.headers).toMatchObject({ ":status": 200, "content-type": "application/grpc" });
  expect(answer.body).toBe("answer to question");
  expect(answer.trailers).toMatchObject({ "grpc-status": "0", "x-sum": "1" });
  expect(seen).toMatchObject({
    ":path": "/shop.Cart/Add",
    te: "trailers",
    ":authority": `127.0.0.1:${environment.port}`,
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "http",
  });
  await until(() => environment.traffic.inFlight === 0);
});

test("messages go back and forth on an open call", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await grpcPod((stream) => {
      stream.respond({ ":status": 200 });
      stream.on("data", (bytes: Buffer) => stream.write(`echo ${bytes.toString()}`));
      stream.on("end", () => stream.end());
    }),
  );
  const answer = new Answer(session(environment.port).request(call, { endStream: false }));
  for (let count = 0; count < 20; count++) {
    answer.stream.write(`<${count}>`);
    await until(() => answer.body.includes(`echo <${count}>`));
  }
  answer.stream.end();
  await answer.closed();
});

test("an answer of trailers alone is passed on as one", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await grpcPod((stream) => {
      stream.respond({ ":status": 200, "grpc-status": "5" }, { endStream: true });
      stream.close();
    }),
  );
  const answer = new Answer(session(environment.port).request(call, { endStream: true }));
  await answer.closed();
  expect(answer.headers).toMatchObject({ ":status": 200, "grpc-status": "5" });
  expect(answer.stream.rstCode).toBe(0);
});

test("a call that cannot be served gets gRPC's status, and other requests HTTP's", async () => {
  await using environment = await TestEnvironment.start({
    target: { unavailable: { message: "no quota: 5 > 4", retryAfterSeconds: 30 } },
  });
  const client = session(environment.port);
  const refused = await new Answer(client.request(call, { endStream: true })).closed();
  expect(refused.headers).toMatchObject({
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-status": "14",
  });
  expect(decodeURIComponent(String(refused.headers?.["grpc-message"]))).toBe("no quota: 5 > 4");
  const plain = await new Answer(client.request({ ":path": "/" })).closed();
  expect(plain.headers).toMatchObject({ ":status": 503, "retry-after": "30" });
});

test("a call waits no longer than its own deadline, and then gets DEADLINE_EXCEEDED", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const answer = new Answer(
    session(environment.port).request({ ...call, "grpc-timeout": "2S" }, { endStream: true }),
  );
  await until(() => environment.traffic.held === 1);
  await clock.advance(1_999);
  expect(environment.traffic.held).toBe(1);
  await clock.advance(1);
  await answer.closed();
  expect(answer.headers).toMatchObject({ "grpc-status": "4" });
});

test("a call that its client cancels while it waits frees its place, and at its pod is cancelled", async () => {
  await using environment = await TestEnvironment.start();
  const client = session(environment.port);
  const waiting = new Answer(client.request(call, { endStream: false }));
  await until(() => environment.traffic.held === 1);
  waiting.stream.close();
  await until(() => environment.traffic.held === 0);
  let isCancelled = false;
  let isCalled = false;
  environment.ready(
    await grpcPod((stream) => {
      isCalled = true;
      stream.on("close", () => {
        isCancelled = true;
      });
    }),
  );
  const running = new Answer(client.request(call, { endStream: false }));
  await until(() => isCalled);
  running.stream.close();
  await until(() => isCancelled && environment.traffic.inFlight === 0);
});

test("a call goes to another endpoint if one cannot be reached", async () => {
  await using environment = await TestEnvironment.start();
  const live = await grpcPod((stream) => stream.respond({ ":status": 204 }, { endStream: true }));
  const dead = { address: "127.0.0.1", port: await freePort(), podUid: "dead" };
  environment.ready(dead, live);
  const client = session(environment.port);
  for (let count = 0; count < 6; count++) {
    const answer = await new Answer(client.request(call, { endStream: true })).closed();
    expect(answer.headers).toMatchObject({ ":status": 204 });
  }
});

test("handed back, a client gets GOAWAY, and its open calls are finished", async () => {
  await using environment = await TestEnvironment.start();
  let finish: (() => void) | undefined;
  environment.ready(
    await grpcPod((stream) => {
      stream.respond({ ":status": 200 });
      finish = () => void stream.end("done");
    }),
  );
  const client = session(environment.port);
  let isToldToLeave = false;
  client.on("goaway", (code) => {
    isToldToLeave = code === 0;
  });
  const answer = new Answer(client.request(call, { endStream: true }));
  await until(() => answer.headers !== undefined);
  environment.set({ dispatch: "hand-back" });
  await until(() => isToldToLeave);
  finish?.();
  expect((await answer.closed()).body).toBe("done");
  await until(() => client.destroyed);
});

const pseudo = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "a"],
] as const;
const specific = [
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "te",
];

test("a request with a field that only a connection has is refused, and harms no other", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(await grpcPod((stream) => stream.respond({ ":status": 204 }, { endStream: true })));
  for (const name of specific) {
    const socket = connectSocket(environment.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let received = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
    });
    const bad = headers(1, [...pseudo, [name, "x"]], true);
    socket.write(Buffer.concat([preface, settings, bad, headers(3, pseudo, true)]));
    await until(() => framesIn(received).includes("headers(3)"));
    expect(framesIn(received)).toContain("rst(1)");
    expect(framesIn(received)).not.toContain("headers(1)");
  }
  expect(environment.traffic).toMatchObject({ held: 0, inFlight: 0 });
});

test("such fields in trailers, and in what a pod answers, are not passed on", async () => {
  await using environment = await TestEnvironment.start();
  const fields = [["http2-settings", "AAMAAABk"]] as const;
  environment.ready(
    await environment.pod((socket) => {
      socket.write(settings);
      let received = Buffer.alloc(0);
      let isAnswered = false;
      socket.on("data", (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        if (isAnswered || !framesIn(received.subarray(preface.length)).includes("headers(1)")) return;
        isAnswered = true;
        const answer = [
          headers(1, [[":status", "103"], ...fields], false),
          headers(1, [[":status", "200"], ...fields], false),
          data(1, "answer"),
          headers(1, [["x-sum", "1"], ...fields], true),
        ];
        socket.write(Buffer.concat(answer));
      });
    }),
  );
  const answer = await new Answer(session(environment.port).request(call, { endStream: true })).closed();
  expect(answer.headers).toMatchObject({ ":status": 200 });
  expect(answer.headers).not.toHaveProperty("http2-settings");
  expect(answer).toMatchObject({ body: "answer", trailers: { "x-sum": "1" } });
  expect(answer.trailers).not.toHaveProperty("http2-settings");

  let seen: IncomingHttpHeaders | undefined;
  environment.ready(
    await grpcPod((stream) => {
      stream.resume();
      stream.on("trailers", (trailers) => {
        seen = trailers;
      });
      stream.on("end", () => stream.respond({ ":status": 204 }, { endStream: true }));
    }),
  );
  const socket = connectSocket(environment.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let received = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
  });
  const trailers = headers(1, [["x-sum", "2"], ...fields], true);
  socket.write(Buffer.concat([preface, settings, headers(1, pseudo, false), data(1, "body"), trailers]));
  await until(() => framesIn(received).includes("headers(1)") && seen !== undefined);
  expect(seen).toMatchObject({ "x-sum": "2" });
  expect(seen).not.toHaveProperty("http2-settings");
});

test("CONNECT is answered with 501, as over HTTP/1, and does not reach the pod", async () => {
  await using environment = await TestEnvironment.start();
  let isCalled = false;
  environment.ready(
    await grpcPod(() => {
      isCalled = true;
    }),
  );
  const answer = new Answer(session(environment.port).request({ ":method": "CONNECT", ":authority": "a:1" }));
  await until(() => answer.headers !== undefined);
  expect(answer.headers).toMatchObject({ ":status": 501 });
  expect(isCalled).toBe(false);
});

test("a body that is larger than what is read ahead waits, and comes to its pod whole", async () => {
  await using environment = await TestEnvironment.start();
  const client = session(environment.port);
  const sent = Buffer.alloc(1_000_000, "0123456789");
  const answer = new Answer(client.request(call, { endStream: false }));
  answer.stream.end(sent);
  const small = new Answer(client.request(call, { endStream: false }));
  small.stream.end("small");
  await until(() => environment.traffic.held === 2);
  // As much as the client may send without being asked for more.
  await until(() => answer.stream.state.localWindowSize === 0 || (answer.stream.bufferSize ?? 0) > 0);
  environment.ready(
    await grpcPod((stream) => {
      const received: Buffer[] = [];
      stream.on("data", (bytes: Buffer) => received.push(bytes));
      stream.on("end", () => {
        stream.respond({ ":status": 200 });
        stream.end(
          Buffer.concat(received).equals(sent) ? "whole" : Buffer.concat(received).toString("latin1", 0, 20),
        );
      });
    }),
  );
  expect((await answer.closed()).body).toBe("whole");
  expect((await small.closed()).body).toBe("small");
});

test("streams that wait with bodies have a bound, and what is freed is for others", async () => {
  // One service has half of it: two streams that are paused, and a little more.
  const heldBytes = 2 * (2 * PAUSED_CLIENT_BYTES + 4_096);
  await using environment = await TestEnvironment.start({ limits: { heldBytes } });
  const client = session(environment.port);
  const open = () => {
    const answer = new Answer(client.request(call, { endStream: false }));
    answer.stream.write(Buffer.alloc(60_000));
    return answer;
  };
  const first = open();
  open();
  await until(() => environment.traffic.held === 2);
  // The third is refused as soon as more of it has come than there is room for.
  const third = await open().closed();
  expect(third.headers).toMatchObject({ "grpc-status": "14" });
  expect(environment.traffic.held).toBe(2);
  // It is over on this side too, whatever of it was not read.
  await until(() => environment.metrics.render().includes('source="web",status="5xx"} 1'));
  const small = new Answer(client.request({ ":path": "/" }));
  await until(() => environment.traffic.held === 3);
  expect(small.headers).toBeUndefined();
  first.stream.close();
  await until(() => environment.traffic.held === 2);
  const fourth = open();
  await until(() => environment.traffic.held === 3);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fourth.headers).toBeUndefined();
});
