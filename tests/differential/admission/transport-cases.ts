import { createServer as createPlainServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import {
  allowing,
  authority,
  day,
  type HookCase,
  host,
  listen,
  mute,
  redirecting,
  saying,
  serving,
  usages,
  withCertificate,
  withTls,
} from "./hard-to-reach.ts";

const stranger = createAuthority({ commonName: "stranger", validFor: day });
const namesake = createAuthority({ commonName: "hooks", validFor: day });
const longAgo = { now: () => Date.now() - 10 * day };
const old = createAuthority({ commonName: "old", validFor: 100 * day, clock: longAgo });
const expired = old.issue({ commonName: "x", ipAddresses: [host], usages, notAfter: Date.now() - day });

/** Webhooks that cannot be reached, or by detours. */
export const transportCases: readonly HookCase[] = [
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
    (said): HookCase => ({
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
