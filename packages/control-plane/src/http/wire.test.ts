import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { administrator } from "../authority.ts";
import { ControlPlane } from "../control-plane.ts";

let plane: ControlPlane;
let open: () => Promise<TLSSocket>;

beforeAll(async () => {
  await ControlPlane.preload();
  plane = await ControlPlane.start({ controllers: "none", nodes: "none" });
  const { hostname: host, port } = new URL(await plane.listen());
  const { certificate: cert, key } = plane.authority.issue({
    commonName: administrator.name,
    organizations: ["system:masters"],
    usages: ["client"],
    validFor: 3_600_000,
  });
  open = async () => {
    const socket = connect({ host, port: Number(port), ca: plane.authority.certificate, cert, key });
    await once(socket, "secureConnect");
    return socket;
  };
});
afterAll(() => plane.close());

/** What comes back until the server ends the connection, which `Connection: close` asks it to. */
async function exchange(bytes: string): Promise<string> {
  const socket = await open();
  socket.write(bytes);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch (error) {
    // A server that has answered may reset what is still being sent.
    if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
  }
  return Buffer.concat(chunks).toString();
}

const headers = "Host: x\r\nConnection: close\r\n";
const get = (target: string, more = headers) => exchange(`GET ${target} HTTP/1.1\r\n${more}\r\n`);
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const bodyOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4);
const pods = "/api/v1/namespaces/default/pods";

test("an address and headers may take a megabyte, and more is refused", async () => {
  const values = Array.from({ length: 800 }, (_, index) => `value-${index}`).join(",");
  const selector = encodeURIComponent(`k in (${values})`);
  expect(statusOf(await get(`${pods}?labelSelector=${selector}`))).toBe(200);
  expect(statusOf(await get(`${pods}?x=${"a".repeat(1024 * 1024)}`))).toBe(200);
  const many = Array.from({ length: 3_000 }, (_, index) => `X-${index}: a\r\n`).join("");
  expect(statusOf(await get("/readyz", `${headers}${many}`))).toBe(200);
  const refused = await get(`${pods}?x=${"a".repeat(1_060_000)}`);
  expect(statusOf(refused)).toBe(431);
  expect(bodyOf(refused)).toBe("431 Request Header Fields Too Large");
});

test.for<[string, string, string]>([
  ["two hosts", "Host: y\r\n", "400 Bad Request"],
  ["an invalid host", "", "400 Bad Request: malformed Host header"],
  ["no host", "", "400 Bad Request: missing required Host header"],
  ["another transfer encoding", "Transfer-Encoding: gzip, chunked\r\n", "Unsupported transfer encoding"],
])("%s is refused as Go's server refuses it", async ([what, more, words]) => {
  const host = what === "no host" ? "" : what === "an invalid host" ? "Host: a b\r\n" : "Host: x\r\n";
  expect(bodyOf(await get("/readyz", `${host}${more}`))).toBe(words);
});

test("an address with a scheme and a host is about its path", async () => {
  const answer = await get("https://elsewhere.example:99/api/v1/namespaces/kube-system?x=1");
  expect(bodyOf(answer)).toContain('"name":"kube-system"');
});

test("two slashes in a row are no single one", async () => {
  expect(bodyOf(await get("//api/v1/namespaces/kube-system"))).toBe("404 page not found\n");
  for (const target of ["/api//v1/namespaces/kube-system", "/api/v1//namespaces/kube-system", `${pods}//x`]) {
    expect(bodyOf(await get(target)), target).toContain("the server could not find the requested resource");
  }
  expect(bodyOf(await get("/api/v1/namespaces//pods"))).toContain('"kind":"PodList"');
  expect(bodyOf(await get("/api/v1/namespaces/kube-system//"))).toContain('"name":"kube-system"');
});

test("a body that is half sent ends in time, with an answer", async () => {
  const half = `POST /api/v1/namespaces?timeout=100ms HTTP/1.1\r\nHost: x\r\nContent-Length: 200\r\n\r\n{"metadata":`;
  const answer = await exchange(half);
  expect(statusOf(answer)).toBe(504);
  expect(JSON.parse(bodyOf(answer))).toMatchObject({
    message: "Timeout: request did not complete within the allotted timeout",
    reason: "Timeout",
    code: 504,
  });
});

test("a client that leaves in the middle of its body is left alone, and the server serves on", async () => {
  const socket = await open();
  socket.end('POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 200\r\n\r\n{"metadata":');
  socket.resume();
  await once(socket, "close");
  expect(statusOf(await get("/readyz"))).toBe(200);
});

test("nonsense on a connection that carries a watch ends it, and puts nothing into the watch", async () => {
  const socket = await open();
  socket.write(`GET ${pods}?watch=true HTTP/1.1\r\nHost: x\r\n\r\n`);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (chunks.length === 1) socket.write("no HTTP\r\n\r\n");
  });
  socket.on("error", () => undefined);
  await once(socket, "close");
  expect(Buffer.concat(chunks).toString()).not.toContain("400");
});

test("an object is refused that is larger than etcd takes, in its words, and no reader sees it", async () => {
  const transport = plane.connect();
  const send = async (name: string, bytes: number) => {
    const body = JSON.stringify({
      metadata: { name },
      involvedObject: { namespace: "default" },
      message: "x".repeat(bytes),
    });
    const path = "/api/v1/namespaces/default/events";
    const answer = await transport.request({ method: "POST", path, headers: {}, body });
    const text = Buffer.concat(await Array.fromAsync(answer.body)).toString();
    return { status: answer.status, message: (JSON.parse(text) as { message: string }).message };
  };
  const { revision } = plane.store;
  expect(await send("a", 1_573_000)).toEqual({ status: 500, message: "etcdserver: request is too large" });
  expect((await send("b", 2_200_000)).message).toMatch(
    /^rpc error: code = ResourceExhausted desc = trying to send/,
  );
  expect(plane.store.revision).toBe(revision);
  expect((await send("c", 1_400_000)).status).toBe(201);
});

const long = (text: string) => text.repeat(Math.ceil(300_000 / text.length));
const sent = (text: string) => encodeURIComponent(long(text));

/** What takes quadratic time takes minutes here. */
test("whatever is in an address or a header, it is read in linear time", { timeout: 60_000 }, async () => {
  const addresses = [
    ...["/", "//", "../", "%41", "%ff", "a/", "namespaces/"].map((text) => `/api/v1/${long(text)}`),
    ...["/apis/", "/openapi/", "/healthz/", "/version/", `${pods}/x/proxy/`].map(
      (root) => `${root}${long("a/")}`,
    ),
    ...["&", "a=b&", "=", "?", ";", "%", "+", "pretty="].map((text) => `${pods}?${long(text)}`),
    ...["1", "1.", "1s", "1.1", "."].map((text) => `${pods}?timeout=${long(text)}x`),
    ...["limit", "resourceVersion", "continue", "timeoutSeconds"].map(
      (name) => `${pods}?${name}=${long("9")}`,
    ),
    ...["a=b,", "a in (b),", "(", ",", "!", " ", "=", "a/", "a.", "-", "a in ((", "k notin (v,"].map(
      (text) => `${pods}?labelSelector=${sent(text)}`,
    ),
    `${pods}?labelSelector=${encodeURIComponent(`k in (${long("v,")}x)`)}`,
    ...["metadata.name=a,", "\\", ",", "=", "!=", "\\,", "a."].map(
      (text) => `${pods}?fieldSelector=${sent(text)}`,
    ),
    ...["fieldManager", "fieldValidation", "dryRun"].map((name) => `${pods}?${name}=${long("a")}`),
  ];
  const accepts = ["a/b,", "application/json;q=0.1,", ";", ",", " ", "a=b;", "*/*,"].map((text) => ({
    accept: long(text),
  }));
  const others = [
    { "user-agent": long("\u0001") },
    { authorization: `Bearer ${long("a.")}` },
    { authorization: long(" ") },
    { "impersonate-user": long("system:serviceaccount:") },
    { "impersonate-user": "a", "impersonate-group": long("a,").split(",") },
    { "impersonate-user": "a", [`impersonate-extra-${long("%41")}`]: "v" },
    { "content-type": long(";") },
  ];
  const requests = [
    ...addresses.map((url) => ({ url, headers: {} })),
    ...[...accepts, ...others].map((given) => ({ url: pods, headers: given })),
    ...accepts.map((given) => ({ url: "/openapi/v2", headers: given })),
  ];
  for (const request of requests) {
    for (const method of ["GET", "POST"]) {
      const body = method === "POST" ? Buffer.from('{"metadata":{"name":"a"}}') : undefined;
      const signal = new AbortController().signal;
      const { status } = await plane.handle({ ...request, method, body, peer: administrator, signal });
      expect(status).toBeLessThan(500);
    }
  }
});
