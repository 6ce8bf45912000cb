import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { answering, type Client, response, TestEnvironment, until } from "../test-environment.fixture.ts";

const hello = answering(() => response("hello"));

test("a request is forwarded with who sent it, and without what concerned its connection", async () => {
  await using environment = await TestEnvironment.start();
  let seen = "";
  environment.ready(
    await environment.pod(
      answering((head) => {
        seen = head;
        return response("hello", "X-From: pod\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\n");
      }),
    ),
  );
  const got = await environment
    .client()
    .get(
      "/a?b",
      "Connection: keep-alive, x-hop\r\nX-Hop: 1\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\n",
    );
  expect(got).toBe("HTTP/1.1 200 OK\r\nX-From: pod\r\nContent-Length: 5\r\n\r\nhello");
  expect(seen.split("\r\n")).toEqual([
    "GET /a?b HTTP/1.1",
    "Host: any.example",
    "X-Forwarded-For: 10.0.0.1, 127.0.0.1",
    "X-Forwarded-Proto: http",
    "X-Forwarded-Host: any.example",
    'Forwarded: for=10.0.0.1, for=127.0.0.1;host="any.example";proto=http',
    "",
    "",
  ]);
});

test("requests of one connection, also those sent at once, are answered in order over one connection to the pod", async () => {
  await using environment = await TestEnvironment.start();
  const pod = await environment.pod(answering((head) => response(head.split(" ")[1] ?? "")));
  environment.ready(pod);
  const client = environment.client();
  for (const path of ["/1", "/2"]) expect(await client.get(path)).toContain(path);
  client.send(["/3", "/4", "/5"].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  await client.gets("/5");
  expect(client.received.match(/\/\d(?!\.)/g)).toEqual(["/1", "/2", "/3", "/4", "/5"]);
  expect(pod.connections).toBe(1);
});

test("a body is forwarded as it comes, with a length or in chunks, and chunk extensions are dropped", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(await environment.pod(answering((_, body) => response(body))));
  const client = environment.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
  client.send("56789");
  await client.gets("0123456789");
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n");
  client.send("0\r\nX-Sum: 1\r\n\r\n");
  await client.gets("3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n");
});

test.each(["Content-Length", "chunked"])(
  "a body with %s is not read faster than its pod takes it",
  async (framing) => {
    await using environment = await TestEnvironment.start();
    const size = 64 * 1024 * 1024;
    let taken = 0;
    const pod = await environment.pod((socket) => {
      socket.pause();
      socket.on("data", (bytes: Buffer) => {
        taken += bytes.length;
      });
    });
    environment.ready(pod);
    const { socket } = environment.client();
    const length = framing === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${size}`;
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n`);
    const block = Buffer.alloc(64 * 1024, "x");
    if (framing === "chunked") socket.write(`${size.toString(16)}\r\n`);
    for (let sent = 0; sent < size; sent += block.length) socket.write(block);
    if (framing === "chunked") socket.write("\r\n0\r\n\r\n");
    // All that can move in this process moves within some turns of its event loop.
    let left = size;
    for (let turns = 0; turns < 500; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      const hasBegun = [...pod.sockets].some(({ bytesRead }) => bytesRead > 0);
      if (socket.writableLength !== left || !hasBegun) turns = 0;
      left = socket.writableLength;
    }
    expect(taken).toBe(0);
    // The kernel keeps some megabytes for each of the four sockets.
    expect(left).toBeGreaterThan(size / 2);
    for (const one of pod.sockets) one.resume();
    await until(() => taken > size);
  },
);

test("a large body goes both ways with little of it in memory", async () => {
  await using environment = await TestEnvironment.start();
  const size = 32 * 1024 * 1024;
  let reading = 0;
  environment.ready(
    await environment.pod((socket) => {
      let isHead = true;
      socket.on("data", (bytes: Buffer) => {
        if (isHead) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        const start = isHead ? bytes.indexOf("\r\n\r\n") + 4 : 0;
        isHead = false;
        reading += bytes.length - start;
        if (!socket.write(bytes.subarray(start))) {
          socket.pause();
          socket.once("drain", () => socket.resume());
        }
      });
    }),
  );
  const client = environment.client();
  client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
  let received = 0;
  client.socket.removeAllListeners("data");
  client.socket.on("data", (bytes: Buffer) => {
    received += bytes.length;
  });
  const block = Buffer.alloc(64 * 1024, "x");
  for (let sent = 0; sent < size; sent += block.length)
    if (!client.socket.write(block)) await new Promise((resolve) => client.socket.once("drain", resolve));
  await until(() => received > size);
  expect(reading).toBe(size);
});

test("a response without a length reaches a client of HTTP/1.1 in chunks, and one of HTTP/1.0 until the end", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await environment.pod((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\nto the end"));
    }),
  );
  expect(await environment.client().get()).toBe(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nto the end\r\n0\r\n\r\n",
  );
  const old = environment.client().send("GET / HTTP/1.0\r\n\r\n");
  await until(() => old.hasEnded);
  expect(old.received).toBe("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end");
});

test("events of a stream reach the client as they are sent", async () => {
  await using environment = await TestEnvironment.start();
  let send: ((text: string) => void) | undefined;
  environment.ready(
    await environment.pod((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        send = (text) => void socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      });
    }),
  );
  const client = environment.client().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.gets("\r\n\r\n");
  for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
    send?.(event);
    await client.gets(event);
  }
});

test("a client that expects 100 gets it from the pod, and sends its body then", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await environment.pod((socket) => {
      let received = "";
      socket.on("data", (bytes: Buffer) => {
        received += bytes.toString();
        if (received.endsWith("\r\n\r\n")) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
        if (received.endsWith("body")) socket.write(response("done"));
      });
    }),
  );
  const client = environment.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  await client.gets("HTTP/1.1 100 Continue\r\n\r\n");
  await client.send("body").gets("done");
});

test("an upgrade joins client and pod, with what each sent too early", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await environment.pod((socket) => {
      let received = "";
      const greet = (bytes: Buffer) => {
        received += bytes.toString();
        if (!received.includes("\r\n\r\n")) return;
        socket.off("data", greet);
        expect(received).toMatch(/Connection: Upgrade\r\nUpgrade: websocket\r\n/);
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nwelcome",
        );
        socket.on("data", (frame: Buffer) => socket.write(`echo ${frame.toString()}`));
        socket.on("end", () => socket.end());
      };
      socket.on("data", greet);
    }),
  );
  const client = environment.client();
  client.send("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly");
  await client.gets("welcome");
  await client.gets("echo early");
  expect(client.received).toMatch(
    /^HTTP\/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/,
  );
  for (let frame = 0; frame < 100; frame++) await client.send(`<${frame}>`).gets(`<${frame}>`);
  expect(environment.traffic.inFlight).toBe(1);
  client.socket.destroy();
  await until(() => environment.traffic.inFlight === 0);
});

test("a malformed request is refused and counted, and nothing of it reaches the pod", async () => {
  await using environment = await TestEnvironment.start();
  let seen = "";
  environment.ready(
    await environment.pod((socket) => {
      socket.on("data", (bytes: Buffer) => {
        seen += bytes.toString();
      });
    }),
  );
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  const client = environment.client();
  client.send(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  );
  await client.gets("\r\n\r\n");
  expect(client.received).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  await until(() => client.hasEnded);
  expect(seen).toBe("");
  expect(environment.metrics.render()).toContain(
    'elasti_resolver_malformed_requests_total{fault="transfer-encoding"} 1',
  );
});

test("a chunk that is malformed ends the request at the pod, which never sees it complete", async () => {
  await using environment = await TestEnvironment.start();
  let seen = "";
  let isLost = false;
  environment.ready(
    await environment.pod((socket) => {
      socket.on("data", (bytes: Buffer) => {
        seen += bytes.toString();
      });
      socket.on("close", () => {
        isLost = true;
      });
    }),
  );
  const client = environment.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  await until(() => seen.includes("abc"));
  client.send("0x1\r\n");
  await client.gets("400 Bad Request");
  await until(() => isLost);
  expect(seen).not.toContain("0\r\n\r\n");
  expect(environment.traffic).toMatchObject({ inFlight: 0, held: 0 });
});

test.each<[string, string, string]>([
  ["is no HTTP", "nonsense\r\n\r\n", "502 Bad Gateway"],
  ["has two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "502 Bad Gateway"],
  ["switches protocols unasked", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "502 Bad Gateway"],
])("an answer that %s becomes 502", async (_, answer, expected) => {
  await using environment = await TestEnvironment.start();
  environment.ready(await environment.pod((socket) => void socket.once("data", () => socket.write(answer))));
  expect(await environment.client().get()).toContain(expected);
});

test("a response that breaks off is cut off for the client too", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(
    await environment.pod((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234");
        setImmediate(() => socket.destroy());
      });
    }),
  );
  const client = environment.client();
  await client.get();
  expect(client.isClosed).toBe(true);
  expect(client.hasEnded).toBe(false);
  expect(environment.traffic.inFlight).toBe(0);
});

test("a client that leaves has its request taken from the pod", async () => {
  await using environment = await TestEnvironment.start();
  let isLost = false;
  let isAsked = false;
  environment.ready(
    await environment.pod((socket) => {
      socket.once("data", () => {
        isAsked = true;
      });
      socket.on("close", () => {
        isLost = true;
      });
    }),
  );
  const client = environment.client().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => isAsked);
  client.socket.destroy();
  await until(() => isLost && environment.traffic.inFlight === 0);
});

test("handed back, each response asks its client to connect again", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(await environment.pod(hello));
  const client: Client = environment.client();
  expect(await client.get()).not.toContain("Connection");
  environment.set({ dispatch: "hand-back" });
  expect(await client.get()).toContain("Connection: close\r\n");
});

/** A POST to a pod that closes connections sooner than they are used again, after so long. */
async function postAfter(environment: TestEnvironment, clock: ManualClock, idleMs: number): Promise<void> {
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx";
  const before = environment.client();
  before.send(post);
  // A connection that is not proven is given a moment before the request.
  await until(() => environment.traffic.inFlight === 1);
  await clock.advance(20);
  await before.gets("hello");
  await until(() => environment.traffic.inFlight === 0);
  await clock.advance(idleMs);
  const after = environment.client();
  after.send(post);
  await after.gets("hello");
}

test("a pod's Keep-Alive timeout is honoured: a connection about to be closed carries no request", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const pod = await environment.pod(answering(() => response("hello", "Keep-Alive: timeout=1, max=100\r\n")));
  environment.ready(pod);
  await postAfter(environment, clock, 400);
  expect(pod.connections).toBe(1);
  await postAfter(environment, clock, 600);
  expect(pod.connections).toBe(2);
});

test("a connection whose pod keeps none is used once", async () => {
  await using environment = await TestEnvironment.start();
  const pod = await environment.pod(answering(() => response("hello", "Keep-Alive: timeout=0\r\n")));
  environment.ready(pod);
  const client = environment.client();
  await client.get();
  await client.get();
  expect(pod.connections).toBe(2);
});

test("after a pod has closed an idle connection, others are not used for as long as that", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const pod = await environment.pod(hello);
  environment.ready(pod);
  const client = environment.client();
  await client.get();
  await clock.advance(500);
  for (const socket of pod.sockets) socket.end();
  await until(() => environment.traffic.upstreamConnections === 0);
  await client.get();
  await clock.advance(200);
  await client.get();
  expect(pod.connections).toBe(2);
  await clock.advance(300);
  await client.get();
  expect(pod.connections).toBe(3);
});
