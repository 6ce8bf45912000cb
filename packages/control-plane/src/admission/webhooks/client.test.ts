import { createServer as createPlainServer, type ServerResponse } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Store } from "../../storage/store.ts";
import { type ClientConfig, WebhookClient } from "./client.ts";
import { Services } from "./services.ts";

const day = 24 * 3_600_000;
const authority = createAuthority({ commonName: "hooks", validFor: day });
const review = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request: {} };

let clock: ManualClock;
let services: Services;
let client: WebhookClient;
const servers: Server[] = [];

beforeEach(() => {
  clock = new ManualClock();
  services = new Services(new Store());
  client = new WebhookClient({ clock, services });
});
afterEach(() => {
  client.close();
  for (const server of servers.splice(0)) server.close();
});

const issue = (names: { commonName?: string; dnsNames?: string[]; ipAddresses?: string[] }) =>
  authority.issue({ commonName: "hook", usages: ["server"], validFor: day, ...names });

async function serve(
  names: { dnsNames?: string[]; ipAddresses?: string[] },
  zipped = false,
): Promise<number> {
  return await serveWith({ ...issue(names), zipped });
}

async function serveWith({
  certificate,
  key,
  zipped = false,
  options = {},
}: {
  certificate: string;
  key: string;
  zipped?: boolean;
  options?: ServerOptions;
}): Promise<number> {
  const server = createServer({ cert: certificate, key, ...options }, (incoming, outgoing) => {
    incoming.resume().once("end", () => {
      const [, status, location] = /^\/redirect\/(\d+)(\/.*)\?/.exec(incoming.url ?? "") ?? [];
      if (location !== undefined) {
        outgoing.writeHead(Number(status), { location }).end();
        return;
      }
      const { url: path, method } = incoming;
      const body = Buffer.from(JSON.stringify({ ...review, response: { path, method } }));
      outgoing.writeHead(200, {
        "content-type": "application/json",
        ...(zipped ? { "content-encoding": "gzip" } : {}),
      });
      outgoing.end(zipped ? gzipSync(body) : body);
    });
  });
  return await listen(server);
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

function post(config: ClientConfig): Promise<unknown> {
  return client.post(config, review, { userAgent: "test", timeoutSeconds: 5 });
}

const authorities = authority.certificate;
const local = { ipAddresses: ["127.0.0.1"] };

test("a webhook is reached by URL when its certificate is from the authority it names", async () => {
  const port = await serve(local);
  const answer = await post({ url: `https://127.0.0.1:${port}/validate`, authorities });
  expect(answer).toMatchObject({ response: { path: "/validate?timeout=5s" } });
});

test("an answer may be zipped", async () => {
  const port = await serve(local, true);
  expect(await post({ url: `https://127.0.0.1:${port}/`, authorities })).toMatchObject({ response: {} });
});

/** A webhook that gives one answer, whatever it is asked. */
async function answering(headers: Record<string, string>, body: Buffer, status = 200): Promise<number> {
  const { certificate: cert, key } = issue(local);
  const answer = (outgoing: ServerResponse) => outgoing.writeHead(status, headers).end(body);
  return await listen(
    createServer({ cert, key }, (incoming, outgoing) =>
      incoming.resume().once("end", () => answer(outgoing)),
    ),
  );
}

test("a small answer that stands for a large one is not read to its end", async () => {
  const bomb = gzipSync(Buffer.alloc(100_000_000, " "));
  const port = await answering({ "content-encoding": "gzip" }, bomb);
  await expect(post({ url: `https://127.0.0.1:${port}/`, authorities })).rejects.toThrow(
    "response body is larger than 16777216 bytes",
  );
});

test("an answer may be as large as what was sent", async () => {
  const objects = [{ text: "x".repeat(20_000_000) }];
  const body = Buffer.from(JSON.stringify({ ...review, response: { objects } }));
  const port = await answering({ "content-type": "application/json" }, body);
  const sent = { ...review, request: { objects } };
  const answer = await client.post({ url: `https://127.0.0.1:${port}/`, authorities }, sent, {
    userAgent: "test",
  });
  expect(answer).toMatchObject({ response: { objects } });
});

test("a compressed answer may be empty, and must be whole", async () => {
  const headers = { "content-encoding": "gzip", "content-type": "application/json" };
  const at = async (body: Buffer) => ({
    url: `https://127.0.0.1:${await answering(headers, body)}/`,
    authorities,
  });
  await expect(post(await at(Buffer.alloc(0)))).rejects.toThrow("0-length response with status code: 200");
  await expect(post(await at(gzipSync("{}").subarray(0, 15)))).rejects.toThrow(
    "Original error: unexpected EOF",
  );
  await expect(post(await at(Buffer.from("{}")))).rejects.toThrow("Original error: gzip: invalid header");
});

test("a webhook that changes the protocol has answered nothing", async () => {
  const { certificate: cert, key } = issue(local);
  const said = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on("error", () => undefined).once("data", () => socket.write(said));
  });
  const port = await listen(server);
  await expect(post({ url: `https://127.0.0.1:${port}/`, authorities })).rejects.toThrow(
    "0-length response with status code: 101 and content type: application/json",
  );
});

test("no more than the start of a failed answer is told", async () => {
  const port = await answering({ "content-type": "text/plain" }, Buffer.from("x".repeat(3_000)), 500);
  await expect(post({ url: `https://127.0.0.1:${port}/`, authorities })).rejects.toThrow(
    `an error on the server ("${"x".repeat(2_048)}") has prevented the request from succeeding`,
  );
});

test("of a bundle all that can be read counts, and one without anything is refused", async () => {
  const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const url = `https://127.0.0.1:${await serve(local)}/`;
  expect(await post({ url, authorities: damaged + authorities })).toMatchObject({ response: {} });
  await expect(post({ url, authorities: "nonsense" })).rejects.toThrow(
    "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block",
  );
  await expect(post({ url, authorities: damaged })).rejects.toThrow(
    "no valid certificate authority data seen",
  );
});

test("a service is reached where it is bound, and must prove to be that service", async () => {
  const reference = { namespace: "ns", name: "svc", port: 443 };
  const config = { service: { ...reference, path: "/x" }, authorities };
  services.bind(reference, `https://127.0.0.1:${await serve({ dnsNames: ["svc.ns.svc"] })}`);
  expect(await post(config)).toMatchObject({ response: { path: "/x?timeout=5s" } });
  services.bind(reference, `https://127.0.0.1:${await serve({ dnsNames: ["other.ns.svc"] })}`);
  client.close();
  await expect(post(config)).rejects.toThrow(
    'Post "https://svc.ns.svc:443/x?timeout=5s": tls: failed to verify certificate: x509: certificate is valid for other.ns.svc, not svc.ns.svc',
  );
});

test("connection errors have the real server's text", async () => {
  const port = await serve(local);
  const url = `https://127.0.0.1:${port}/`;
  await expect(post({ url })).rejects.toThrow(
    `Post "${url}?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
  const unnamed = await serve({ dnsNames: ["example.com"] });
  await expect(post({ url: `https://127.0.0.1:${unnamed}/`, authorities })).rejects.toThrow(
    "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  );
  const plain = await listen(createPlainServer((_incoming, outgoing) => outgoing.end("hello")));
  await expect(post({ url: `https://127.0.0.1:${plain}/`, authorities })).rejects.toThrow(
    "http: server gave HTTP response to HTTPS client",
  );
  const [server] = servers;
  await new Promise((resolve) => server?.close(resolve));
  client.close();
  await expect(post({ url, authorities })).rejects.toThrow(
    `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  );
});

test("a webhook whose own certificate is trusted is reached, no matter who signed it", async () => {
  const own = issue(local);
  const port = await serveWith(own);
  const answer = await post({ url: `https://127.0.0.1:${port}/`, authorities: own.certificate });
  expect(answer).toMatchObject({ response: { path: "/?timeout=5s" } });
});

test.each([
  ["//hook", "/hook"],
  ["/a/../hook/", "/hook"],
  ["/a%2fb", "/a/b"],
  ["", "/"],
])("the path %j is asked for as %j", async (path, asked) => {
  const answer = await post({ url: `https://127.0.0.1:${await serve(local)}${path}`, authorities });
  expect(answer).toMatchObject({ response: { path: `${asked}?timeout=5s` } });
});

test("redirects are followed: some with what was posted, others without", async () => {
  const base = `https://127.0.0.1:${await serve(local)}`;
  for (const [status, method] of [
    [307, "POST"],
    [308, "POST"],
    [301, "GET"],
    [303, "GET"],
  ] as const) {
    const answer = await post({ url: `${base}/redirect/${status}/there`, authorities });
    expect(answer).toMatchObject({ response: { path: "/there", method } });
  }
  const { certificate: cert, key } = issue(local);
  const endless = await listen(
    createServer({ cert, key }, (_incoming, outgoing) =>
      outgoing.writeHead(307, { location: "/again" }).end(),
    ),
  );
  await expect(post({ url: `https://127.0.0.1:${endless}/`, authorities })).rejects.toThrow(
    'Post "/again": stopped after 10 redirects',
  );
});

test("a certificate without names fits no host, whatever its common name", async () => {
  const port = await serveWith(issue({ commonName: "localhost" }));
  await expect(post({ url: `https://localhost:${port}/`, authorities })).rejects.toThrow(
    "x509: certificate relies on legacy Common Name field, use SANs instead",
  );
});

test("what the other side sends before it hangs up is reported", async () => {
  const own = issue(local);
  const wanting = await serveWith({ ...own, options: { requestCert: true, ca: authorities } });
  await expect(post({ url: `https://127.0.0.1:${wanting}/`, authorities })).rejects.toThrow(
    "remote error: tls: certificate required",
  );
  const greeting = await listen(
    createTcpServer((socket) => void socket.on("error", () => undefined).end("SSH-2.0-test\r\n")),
  );
  await expect(post({ url: `https://127.0.0.1:${greeting}/`, authorities })).rejects.toThrow(
    "tls: first record does not look like a TLS handshake",
  );
});

test("an answer that falls silent is abandoned in time", async () => {
  const { certificate: cert, key } = issue(local);
  const { promise: wasAsked, resolve: asked } = Promise.withResolvers<void>();
  const server = createTlsServer({ cert, key }, (socket) => {
    socket
      .on("error", () => undefined)
      .once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Le", () => asked());
      });
  });
  const port = await listen(server);
  const answer = expect(post({ url: `https://127.0.0.1:${port}/`, authorities })).rejects.toThrow(
    /Post "https:.*": context deadline exceeded$/,
  );
  await wasAsked;
  await clock.advance(5_000);
  await answer;
});

test("an answer that is cut off in its body has the real server's error text", async () => {
  const { certificate: cert, key } = issue(local);
  const said = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{";
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end(said));
  });
  const port = await listen(server);
  await expect(post({ url: `https://127.0.0.1:${port}/`, authorities })).rejects.toThrow(
    /^unexpected error when reading response body\. Please retry\. Original error: unexpected EOF$/,
  );
});
