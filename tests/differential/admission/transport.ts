import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { differences, show } from "../differences.ts";
import { conclude } from "../tally.ts";
import { normal } from "./normal.ts";
import { openEmbedded, openReal, type Server } from "./servers.ts";

/**
 * Webhooks that are hard to reach, on a real API server and on the embedded one: certificates of
 * every kind, redirects, and servers that speak something else. Compares the answers, and what
 * arrives at the webhooks.
 *
 *   KUBECONFIG=FILE node tests/differential/admission/transport.ts [part of a case's name]
 */
const day = 24 * 3_600_000;
const host = "127.0.0.1";
const authority = createAuthority({ commonName: "hooks", validFor: day });
const stranger = createAuthority({ commonName: "stranger", validFor: day });
const namesake = createAuthority({ commonName: "hooks", validFor: day });
const usages = ["server"] as const;
const serving = authority.issue({ commonName: "hooks", ipAddresses: [host], usages, validFor: day });
const longAgo = { now: () => Date.now() - 10 * day };
const old = createAuthority({ commonName: "old", validFor: 100 * day, clock: longAgo });
const expired = old.issue({ commonName: "x", ipAddresses: [host], usages, notAfter: Date.now() - day });

/** One webhook: what it is served with, and how the configuration finds it. */
interface Case {
  readonly name: string;
  /** @returns the port that the webhook listens on */
  readonly serve: () => Promise<number>;
  /** What follows the port in the URL. @default /hook */
  readonly path?: string;
  /** PEM of what the configuration trusts; empty for nothing. @default the authority */
  readonly trust?: string;
  /** The host in the URL. @default 127.0.0.1 */
  readonly host?: string;
  /** How long the webhook may take. @default 5 */
  readonly timeoutSeconds?: number;
}

const seen: string[] = [];
const open: TcpServer[] = [];

async function listen(server: TcpServer): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Takes what it is sent, and says nothing. */
function mute(socket: Socket): void {
  socket.on("error", () => undefined).resume();
}

/** Says something as soon as it is asked, and nothing more. */
function saying(text: string): (socket: Socket) => void {
  return (socket) => {
    mute(socket);
    socket.once("data", () => socket.write(text));
  };
}

type Answering = (incoming: IncomingMessage, body: string, outgoing: ServerResponse) => boolean;

/** Allows everything, but for requests that `first` answers. */
function allowing(first: Answering = () => false) {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      seen.push(`${incoming.method} ${incoming.url} ${body === "" ? "without" : "with"} a body`);
      if (first(incoming, body, outgoing)) return;
      const { kind, apiVersion, request } = JSON.parse(body || "{}") as {
        kind?: string;
        apiVersion?: string;
        request?: { uid: string };
      };
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ kind, apiVersion, response: { uid: request?.uid, allowed: true } }));
    });
  };
}

const withTls = (options: ServerOptions, first?: Answering) => () =>
  listen(createServer({ cert: serving.certificate, key: serving.key, ...options }, allowing(first)));
const withCertificate = ({ certificate, key }: { certificate: string; key: string }) =>
  withTls({ cert: certificate, key });

/** Sends `/hook` elsewhere. */
const redirecting = (status: number, location: string | undefined) =>
  withTls({}, (incoming, _body, outgoing) => {
    if (!incoming.url?.startsWith("/hook")) return false;
    outgoing.writeHead(status, location === undefined ? {} : { location });
    outgoing.end();
    return true;
  });

const cases: readonly Case[] = [
  { name: "trusted", serve: withTls({}) },
  { name: "the serving certificate itself is trusted", serve: withTls({}), trust: serving.certificate },
  {
    name: "the serving certificate among others",
    serve: withTls({}),
    trust: `${stranger.certificate}\n${serving.certificate}`,
  },
  { name: "another authority", serve: withTls({}), trust: stranger.certificate },
  { name: "an authority of the same name", serve: withTls({}), trust: namesake.certificate },
  { name: "no authority", serve: withTls({}), trust: "" },
  ...["", "/", "//hook", "/a//b", "/a/../hook", "/a/./hook/", "/hook/", "/a%2fb", "/a b"].map((path) => ({
    name: `path ${path}`,
    serve: withTls({}),
    path,
  })),
  ...[301, 302, 303, 307, 308].map((status) => ({
    name: `redirect by ${status}`,
    serve: redirecting(status, "/other"),
  })),
  { name: "redirect without end", serve: redirecting(307, "/hook") },
  { name: "redirect to nowhere", serve: redirecting(307, undefined) },
  { name: "redirect to nonsense", serve: redirecting(307, "http://[::1") },
  { name: "redirect to a closed port", serve: redirecting(307, `https://${host}:9/other`) },
  { name: "redirect by 300", serve: redirecting(300, "/other") },
  { name: "redirect by 304", serve: redirecting(304, "/other") },
  { name: "plain HTTP", serve: () => listen(createPlainServer(allowing())) },
  {
    name: "not HTTP",
    serve: () =>
      listen(createTcpServer((socket) => void socket.on("error", () => undefined).end("SSH-2.0-x\r\n"))),
  },
  {
    name: "nothing but an end",
    serve: () => listen(createTcpServer((socket) => void socket.on("error", () => undefined).end())),
  },
  {
    name: "an end after the greeting",
    serve: () =>
      listen(
        createTcpServer((socket) => {
          socket.on("error", () => undefined).once("data", () => socket.end());
        }),
      ),
  },
  // Silence at each part of an answer.
  { name: "silent from the start", serve: () => listen(createTcpServer(mute)), timeoutSeconds: 1 },
  ...[
    "",
    "HTTP/1.1 20",
    "HTTP/1.1 200 OK\r\nContent-Le",
    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
    'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"kind":',
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6",
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"kind":',
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{",
  ].map(
    (said): Case => ({
      name: `silent after ${JSON.stringify(said)}`,
      serve: () => listen(createTlsServer({ key: serving.key, cert: serving.certificate }, saying(said))),
      timeoutSeconds: 1,
    }),
  ),
  {
    name: "an end in the middle of a body",
    serve: () =>
      listen(
        createTlsServer({ key: serving.key, cert: serving.certificate }, (socket) => {
          const said = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{";
          socket.on("error", () => undefined).once("data", () => socket.end(said));
        }),
      ),
  },
  { name: "client certificates wanted", serve: withTls({ requestCert: true, ca: authority.certificate }) },
  {
    name: "client certificates wanted by TLS 1.2",
    serve: withTls({ requestCert: true, ca: authority.certificate, maxVersion: "TLSv1.2" }),
  },
  {
    name: "TLS 1.1",
    serve: withTls({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
  },
  {
    name: "no cipher in common",
    serve: withTls({
      maxVersion: "TLSv1.2",
      ciphers: "ECDHE-ECDSA-CAMELLIA128-SHA256:ECDHE-ECDSA-AES128-CCM8",
    }),
  },
  {
    name: "a name it does not know",
    serve: withTls({ SNICallback: (_name, done) => done(new Error("unknown")) }),
    host: "localhost",
  },
  { name: "expired", serve: withCertificate(expired), trust: old.certificate },
  { name: "expired, and not trusted", serve: withCertificate(expired) },
  {
    name: "another address",
    serve: withCertificate(
      authority.issue({ commonName: "x", ipAddresses: ["127.0.0.2", "::1"], usages, validFor: day }),
    ),
  },
  {
    name: "no address",
    serve: withCertificate(
      authority.issue({ commonName: "x", dnsNames: ["x.example"], usages, validFor: day }),
    ),
  },
  {
    name: "another name",
    serve: withCertificate(
      authority.issue({ commonName: "x", dnsNames: ["x.example", "*.y.example"], usages, validFor: day }),
    ),
    host: "localhost",
  },
  {
    name: "a common name alone",
    serve: withCertificate(authority.issue({ commonName: "localhost", usages, validFor: day })),
    host: "localhost",
  },
  {
    name: "no name",
    serve: withCertificate(authority.issue({ commonName: "x", usages, validFor: day })),
    host: "localhost",
  },
  {
    name: "for clients",
    serve: withCertificate(
      authority.issue({ commonName: "x", ipAddresses: [host], usages: ["client"], validFor: day }),
    ),
  },
];

const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const kubeconfig = process.env.KUBECONFIG;
if (kubeconfig === undefined) throw new Error("KUBECONFIG must name the kubeconfig of a bare API server");
const servers = [openReal(kubeconfig), await openEmbedded()];
const namespace = `transport-${process.pid}`;
const wanted = cases.filter(({ name }) => name.includes(process.argv[2] ?? ""));

/** Ports of this run, and times, are replaced. */
function settled(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(normal(value))
      .replaceAll(/(127\.0\.0\.1|localhost|\[::1\]):\d{4,5}/g, "$1:PORT")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME"),
  ) as unknown;
}

async function play(
  server: Server,
  { path = "/hook", host: dialled = host, ...one }: Case,
): Promise<unknown> {
  const port = await one.serve();
  const { trust: caBundle = authority.certificate } = one;
  const configured = await server.send({
    method: "POST",
    path: configurations,
    body: {
      metadata: { name: namespace },
      webhooks: [
        {
          name: "hook.example.com",
          clientConfig: {
            url: `https://${dialled}:${port}${path}`,
            ...(caBundle === "" ? {} : { caBundle: Buffer.from(caBundle).toString("base64") }),
          },
          rules: [
            { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] },
          ],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          timeoutSeconds: one.timeoutSeconds ?? 5,
        },
      ],
    },
  });
  try {
    if (configured.status !== 201) return { refused: settled(configured.body) };
    await server.settle();
    seen.length = 0;
    const { status, body } = await server.send({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
      body: { metadata: { name: "x" } },
    });
    return { status, body: status === 201 ? "created" : settled(body), seen: [...seen] };
  } finally {
    await server.send({ method: "DELETE", path: `${configurations}/${namespace}` });
    for (const each of open.splice(0)) each.close();
  }
}
let compared = 0;
let differing = 0;
try {
  for (const server of servers) {
    await server.send({
      method: "POST",
      path: "/api/v1/namespaces",
      body: { metadata: { name: namespace } },
    });
  }
  for (const one of wanted) {
    const [real, ours] = [await play(servers[0] as Server, one), await play(servers[1] as Server, one)];
    compared++;
    const found = differences(real, ours);
    if (found.length === 0) continue;
    differing++;
    process.stdout.write(`${one.name}\n${found.map((each) => show(each)).join("\n")}\n`);
  }
} finally {
  for (const server of servers) {
    await server.send({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
    await server.close();
  }
}
conclude({ name: "admission/transport", compared, differing });
