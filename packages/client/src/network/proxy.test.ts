import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createAuthority } from "@windlass/certificates";
import { expect, test } from "vitest";
import { readAll, startServer } from "../test-server.fixture.ts";
import { parseProxy, proxyFromEnvironment } from "./proxy.ts";
import { networkTransport } from "./transport.ts";

const authority = createAuthority({ commonName: "ca", validFor: 86_400_000 });
const pair = authority.issue({
  commonName: "server",
  ipAddresses: ["127.0.0.1"],
  usages: ["server"],
  validFor: 86_400_000,
});

/**
 * A proxy that keeps the targets it was asked for, and lets through those with the right password.
 */
async function startProxy() {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const allowed = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const forward = http.request(
      request.url ?? "",
      { method: request.method ?? "GET", agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502);
        answer.pipe(response);
      },
    );
    forward.end();
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (request, socket: Socket, head) => {
    asked.push(`CONNECT ${request.url}`);
    if (request.headers["proxy-authorization"] !== allowed)
      return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
    return upstream;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    asked,
    url: (user: string) => new URL(`http://${user}127.0.0.1:${(server.address() as AddressInfo).port}`),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

test("requests go through one tunnel of the proxy, and TLS is with the server behind it", async () => {
  await using proxy = await startProxy();
  await using server = await startServer((_, response) => response.end("hello"), {
    cert: pair.certificate,
    key: pair.key,
  });
  const material = { ca: authority.certificate };
  const transport = networkTransport({
    server: server.url,
    tls: () => material,
    proxy: proxy.url("me:p%40ss@"),
  });
  for (let i = 0; i < 3; i++) {
    const { body } = await transport.request({ method: "GET", path: "/", headers: {} });
    expect((await readAll(body)).toString()).toBe("hello");
  }
  expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
  await transport.close();
});

test("a proxy that refuses is named, without its password", async () => {
  await using proxy = await startProxy();
  const transport = networkTransport({ server: "https://127.0.0.1:1", proxy: proxy.url("me:hunter2@") });
  await expect(transport.request({ method: "POST", path: "/", headers: {} })).rejects.toMatchObject({
    code: "PROXY_FAILED",
    mayHaveBeenSent: false,
    message: expect.stringMatching(
      /^https:\/\/127\.0\.0\.1:1 through the proxy http:\/\/127\.0\.0\.1:\d+: the proxy answered 407/,
    ),
  });
});

test("a missing proxy is reported as such", async () => {
  const transport = networkTransport({ server: "https://127.0.0.1:1", proxy: new URL("http://127.0.0.1:9") });
  await expect(transport.request({ method: "GET", path: "/", headers: {} })).rejects.toMatchObject({
    code: "PROXY_FAILED",
    message: expect.stringContaining("connection refused"),
  });
});

test("plain HTTP servers are asked for by their whole URL", async () => {
  await using proxy = await startProxy();
  await using server = await startServer((request, response) => response.end(request.url));
  const transport = networkTransport({ server: server.url, proxy: proxy.url("") });
  const { body } = await transport.request({ method: "GET", path: "/version", headers: {} });
  expect((await readAll(body)).toString()).toBe("/version");
  expect(proxy.asked).toEqual([`GET ${server.url}/version`]);
  await transport.close();
});

const proxied = (server: string, env: Record<string, string>) =>
  proxyFromEnvironment(new URL(server), env)?.href;

test("the environment's proxy depends on the server's scheme", () => {
  const env = { HTTPS_PROXY: "http://secure:1", http_proxy: "plain:2" };
  expect(proxied("https://k8s.example.com", env)).toBe("http://secure:1/");
  expect(proxied("http://k8s.example.com", env)).toBe("http://plain:2/");
  expect(proxied("https://k8s.example.com", {})).toBeUndefined();
});

test.each([
  ["https://localhost:6443", ""],
  ["https://127.0.0.1:6443", ""],
  ["https://127.1.2.3", ""],
  ["https://[::1]:6443", ""],
  ["https://k8s.example.com", "*"],
  ["https://k8s.example.com", "other, example.com"],
  ["https://k8s.example.com", ".example.com"],
  ["https://k8s.example.com", "*.example.com"],
  ["https://example.com", "example.com"],
  ["https://k8s.example.com:6443", "k8s.example.com:6443"],
  ["https://10.1.2.3", "10.0.0.0/8"],
  ["https://10.1.2.3:6443", "10.1.2.3"],
  ["https://10.1.2.3:6443", "10.1.2.3:6443"],
  ["https://[fd00::1]", "fd00::/8"],
  ["https://[fd00::1]", "fd00::1"],
  ["https://[fd00::1]:6443", "[fd00::1]:6443"],
  ["https://K8S.example.com", "k8s.EXAMPLE.com"],
])("%s is reached directly with NO_PROXY=%j", (server, noProxy) => {
  expect(proxied(server, { HTTPS_PROXY: "http://p", NO_PROXY: noProxy })).toBeUndefined();
});

test.each([
  ["https://example.com", ".example.com"],
  ["https://notexample.com", "example.com"],
  ["https://k8s.example.com:6443", "k8s.example.com:443"],
  ["https://11.1.2.3", "10.0.0.0/8"],
  ["https://10.1.2.3", "10.0.0.0/99"],
  ["https://10.1.2.3", "fd00::/8"],
  ["https://k8s.example.com", " ,,"],
])("%s goes through the proxy in spite of NO_PROXY=%j", (server, noProxy) => {
  expect(proxied(server, { HTTPS_PROXY: "http://p", NO_PROXY: noProxy })).toBe("http://p/");
});

test("a proxy that cannot be used is refused by name, without its password", () => {
  expect(() => parseProxy("socks5://me:hunter2@proxy:1080", "proxy-url")).toThrow(
    "proxy-url: proxies of scheme socks5 are not supported; give one such as http://proxy.example.com:3128",
  );
  expect(() => parseProxy("http://", "HTTPS_PROXY")).toThrow("HTTPS_PROXY: it is not a URL");
});
