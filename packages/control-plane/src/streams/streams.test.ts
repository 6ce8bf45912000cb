import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import type { Pod } from "@windlass/kinds/builtin";
import { expect, test, vi } from "vitest";
import { isReady } from "../controllers/pods.ts";
import type { JsonObject } from "../json.ts";
import {
  commandPod,
  type ProcessCluster,
  startProcessCluster,
} from "../processes/process-cluster.fixture.ts";
import { typed } from "../storage/typed.ts";

// Processes take as long as the machine lets them.
vi.setConfig({ testTimeout: 30_000 });

/** A client of web sockets, with as little as a test needs. */
class Client {
  readonly #socket: Duplex;
  readonly #messages: AsyncGenerator<Buffer>;
  readonly protocol: string | undefined;

  constructor(socket: Duplex, head: Buffer, protocol: string | undefined) {
    this.#socket = socket;
    this.#messages = messagesIn(socket, head);
    this.protocol = protocol;
  }

  send(...bytes: (number | string)[]): void {
    const data = Buffer.concat(
      bytes.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))),
    );
    // A mask of zeros leaves the data as it is.
    this.#socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | data.byteLength, 0, 0, 0, 0]), data]));
  }

  /** The next message; undefined once the server has closed. */
  async next(): Promise<Buffer | undefined> {
    const { value, done } = await this.#messages.next();
    return done ? undefined : value;
  }

  /** All that comes on each channel until the server closes. */
  async channels(): Promise<Record<number, string>> {
    const found: Record<number, string> = {};
    for (let message = await this.next(); message; message = await this.next()) {
      const channel = message[0] ?? 0;
      found[channel] = (found[channel] ?? "") + message.subarray(1).toString();
    }
    return found;
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function* messagesIn(socket: Duplex, head: Buffer): AsyncGenerator<Buffer> {
  let rest = head;
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const need = async (size: number): Promise<Buffer> => {
    while (rest.byteLength < size) {
      const next = await chunks.next();
      if (next.done) return Buffer.alloc(0);
      rest = Buffer.concat([rest, next.value]);
    }
    const taken = rest.subarray(0, size);
    rest = rest.subarray(size);
    return taken;
  };
  for (;;) {
    const [first = 0x88, second = 0] = await need(2);
    const long = (second & 0x7f) === 126 ? await need(2) : undefined;
    const data = await need(long ? long.readUInt16BE(0) : second & 0x7f);
    if ((first & 0x0f) === 8) return;
    yield data;
  }
}

async function open(cluster: ProcessCluster, path: string, protocols?: string): Promise<Client | JsonObject> {
  const url = new URL(await cluster.plane.listen());
  const identity = cluster.plane.authority.issue({
    commonName: "tester",
    organizations: ["system:masters"],
    usages: ["client"],
    validFor: 3_600_000,
  });
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...(protocols === undefined ? {} : { "sec-websocket-protocol": protocols }),
  };
  const outgoing = request(new URL(path, url), {
    headers,
    ca: cluster.plane.authority.certificate,
    cert: identity.certificate,
    key: identity.key,
  });
  const answer = Promise.withResolvers<Client | JsonObject>();
  outgoing.once("upgrade", (incoming, socket, head) => {
    expect(incoming.headers["sec-websocket-accept"]).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    answer.resolve(new Client(socket, head, incoming.headers["sec-websocket-protocol"]));
  });
  outgoing.once("response", (incoming: IncomingMessage) => {
    text(incoming).then((body) => answer.resolve(JSON.parse(body) as JsonObject), answer.reject);
  });
  outgoing.once("error", answer.reject);
  outgoing.end();
  return await answer.promise;
}

async function connected(cluster: ProcessCluster, path: string, protocols?: string): Promise<Client> {
  const client = await open(cluster, path, protocols);
  if (!(client instanceof Client)) throw new Error(JSON.stringify(client));
  return client;
}

const pods = "/api/v1/namespaces/default/pods";
const newest = "v5.channel.k8s.io";

async function withPod(script: string, container: JsonObject = {}): Promise<ProcessCluster> {
  const cluster = await startProcessCluster();
  await cluster.create(commandPod("box", ["/bin/sh", "-c", script], { container }));
  await cluster.until("pods", "box", (pod) => pod !== undefined && isReady(typed<Pod>(pod)));
  return cluster;
}

const query = (command: readonly string[], more = "") =>
  `${command.map((word) => `command=${encodeURIComponent(word)}&`).join("")}stdin=true&stdout=true&stderr=true${more}`;

test("a command runs in a container with its streams at the client, which hears how it ended", async () => {
  await using cluster = await withPod("exec sleep 1000", { env: [{ name: "WHO", value: "me" }] });
  const command = ["/bin/sh", "-c", 'read line; echo "$WHO got $line"; echo oh >&2; exit 4'];
  const client = await connected(
    cluster,
    `${pods}/box/exec?${query(command)}`,
    `v4.channel.k8s.io, ${newest}`,
  );
  expect(client.protocol).toBe(newest);
  client.send(0, "a line\n");
  const { 1: out, 2: err, 3: status = "" } = await client.channels();
  expect([out, err]).toEqual(["me got a line\n", "oh\n"]);
  expect(JSON.parse(status)).toMatchObject({
    status: "Failure",
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: "4" }] },
  });
});

test("a command reads the end of its input, and a missing command is reported", async () => {
  await using cluster = await withPod("exec sleep 1000");
  const client = await connected(cluster, `${pods}/box/exec?${query(["/bin/cat"])}`, newest);
  client.send(0, "all of it");
  client.send(255, 0);
  expect(await client.channels()).toEqual({ 1: "all of it", 3: '{"metadata":{},"status":"Success"}' });
  const absent = await connected(cluster, `${pods}/box/exec?${query(["no-such"])}`, newest);
  const { 3: status = "" } = await absent.channels();
  expect(JSON.parse(status)).toMatchObject({
    status: "Failure",
    message: expect.stringContaining('"no-such"'),
  });
});

test("who attaches hears what the container writes from then on, and can write to it", async () => {
  await using cluster = await withPod('while read line; do printf "heard $line"; done; exit 5', {
    stdin: true,
  });
  const client = await connected(cluster, `${pods}/box/attach?stdin=true&stdout=true`, newest);
  client.send(0, "hello\n");
  expect((await client.next())?.subarray(1).toString()).toBe("heard hello");
  client.send(255, 0);
  expect(await client.channels()).toEqual({ 3: '{"metadata":{},"status":"Success"}' });
});

test("a port of a pod can be reached through the server", async () => {
  // A client that only checks the port closes the connection at once.
  const server =
    'require("net").createServer((socket) => socket.on("error", () => {}).end("hi there")).listen(7070)';
  await using cluster = await startProcessCluster();
  const container = { readinessProbe: { tcpSocket: { port: 7070 } } };
  await cluster.create(commandPod("box", [process.execPath, "-e", server], { container }));
  await cluster.until("pods", "box", (pod) => pod !== undefined && isReady(typed<Pod>(pod)));
  const client = await connected(cluster, `${pods}/box/portforward?ports=7070`, "v4.channel.k8s.io");
  const port = Buffer.from([7070 & 255, 7070 >> 8]).toString();
  expect(await client.channels()).toEqual({ 0: `${port}hi there`, 1: port });
});

test("requests are passed on to a pod, and to a Service's pods", async () => {
  const server = `require("http").createServer((request, answer) => {
    answer.writeHead(request.method === "POST" ? 201 : 200, { "x-from": "pod" });
    request.pipe(answer.write(request.url + " " + request.headers.authorization + " ") && answer);
  }).listen(7070)`;
  await using cluster = await startProcessCluster();
  const container = {
    ports: [{ name: "http", containerPort: 7070 }],
    readinessProbe: { tcpSocket: { port: 7070 } },
  };
  const pod = commandPod("box", [process.execPath, "-e", server], { container });
  await cluster.create(
    { ...pod, metadata: { name: "box", labels: { app: "box" } } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "box" },
      spec: { selector: { app: "box" }, ports: [{ port: 80, targetPort: "http" }] },
    },
  );
  await cluster.until("pods", "box", (one) => one !== undefined && isReady(typed<Pod>(one)));
  await cluster.plane.settle();
  const send = async (method: string, path: string, body?: string) => {
    const request = { method, path, headers: {}, ...(body === undefined ? {} : { body }) };
    const answer = await cluster.plane.connect().request(request);
    const bytes = Buffer.concat(await Array.fromAsync(answer.body));
    return { status: answer.status, from: answer.headers["x-from"], text: bytes.toString() };
  };
  expect(await send("GET", `${pods}/box/proxy/deep/er/?x=1`)).toEqual({
    status: 200,
    from: "pod",
    text: "/deep/er/?x=1 undefined ",
  });
  expect(await send("POST", `${pods}/box:http/proxy`, "thing")).toMatchObject({
    status: 201,
    text: "/ undefined thing",
  });
  const services = "/api/v1/namespaces/default/services";
  expect(await send("GET", `${services}/http:box:80/proxy/a%20b`)).toMatchObject({
    status: 200,
    text: "/a%20b undefined ",
  });
  expect(JSON.parse((await send("GET", `${services}/box:81/proxy/`)).text)).toMatchObject({ code: 503 });
  expect(JSON.parse((await send("GET", `${pods}/box:9/proxy/`)).text)).toMatchObject({
    code: 503,
    message: expect.stringMatching(/^error trying to reach service: /),
  });
});

test("a watch may go on as a web socket, each event a message", async () => {
  await using cluster = await startProcessCluster();
  const client = await connected(cluster, "/api/v1/namespaces/default/configmaps?watch=true");
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } };
  const created = cluster.create(map);
  for (;;) {
    const event = JSON.parse(String(await client.next())) as {
      type: string;
      object: { metadata: { name: string } };
    };
    if (event.object.metadata.name !== "settings") continue;
    expect(event.type).toBe("ADDED");
    break;
  }
  await created;
  client.close();
});

test("what cannot be done is refused in words, over the same connection", async () => {
  await using cluster = await withPod("exec sleep 1000");
  cluster.plane.node.on("pretend", "run");
  await cluster.create(commandPod("pretend", ["x"]));
  const path = (name: string) => `${pods}/${name}/exec?${query(["true"])}`;
  expect(await open(cluster, path("pretend"), newest)).toMatchObject({
    code: 501,
    reason: "WindlassUnsupported",
  });
  expect(await open(cluster, path("absent"), newest)).toMatchObject({ code: 404 });
  expect(await open(cluster, path("box"), "v9.channel.k8s.io")).toMatchObject({ code: 403 });
  expect(await open(cluster, `${pods}/box/exec?command=true`, newest)).toMatchObject({ code: 400 });
  expect(await open(cluster, "/api/v1/namespaces/default/pods/box")).toMatchObject({ kind: "Pod" });
});

test("running a command needs the permission to create it", async () => {
  await using cluster = await withPod("exec sleep 1000");
  const path = `${pods}/box/exec?${query(["true"])}`;
  const headers = { connection: "Upgrade", upgrade: "websocket" };
  await cluster.create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "reader" },
    rules: [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["get"] }],
  });
  await cluster.create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "reader" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "eve" }],
  });
  const transport = cluster.plane.connect({ name: "eve", groups: ["system:authenticated"] });
  const { status, body } = await transport.request({ method: "GET", path, headers });
  expect(status).toBe(403);
  const [chunk] = await Array.fromAsync(body);
  expect(JSON.parse(String(chunk && Buffer.from(chunk)))).toMatchObject({
    message: 'pods "box" is forbidden: ',
  });
});
