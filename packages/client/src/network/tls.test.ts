import type { TLSSocket } from "node:tls";
import { createAuthority, type KeyPair } from "@windlass/certificates";
import { expect, test } from "vitest";
import { readAll, startServer } from "../test-server.fixture.ts";
import type { TransportRequest } from "../transport.ts";
import type { TlsMaterial } from "./dial.ts";
import { networkTransport } from "./transport.ts";

const day = 86_400_000;
const authority = createAuthority({ commonName: "test-ca", validFor: 10 * day });
const otherAuthority = createAuthority({ commonName: "other-ca", validFor: 10 * day });

const serverPair = (names: { ipAddresses?: string[]; dnsNames?: string[] }, by = authority): KeyPair =>
  by.issue({ commonName: "server", usages: ["server"], validFor: day, ...names });
const clientPair = (commonName: string): KeyPair =>
  authority.issue({ commonName, usages: ["client"], validFor: day });
const served = ({ certificate, key }: KeyPair) => ({ cert: certificate, key });

const get: TransportRequest = { method: "GET", path: "/", headers: {} };
const loopback = serverPair({ ipAddresses: ["127.0.0.1"] });

async function ask(url: string, material: TlsMaterial): Promise<string> {
  const transport = networkTransport({ server: url, tls: () => material });
  try {
    return (await readAll((await transport.request(get)).body)).toString();
  } finally {
    await transport.close();
  }
}

test("a server whose certificate the CA signed is trusted; others are not, and the message says what to set", async () => {
  await using server = await startServer((_, response) => response.end("hello"), served(loopback));
  expect(await ask(server.url, { ca: authority.certificate })).toBe("hello");
  await expect(ask(server.url, { ca: otherAuthority.certificate })).rejects.toMatchObject({
    code: "CERTIFICATE_UNTRUSTED",
    mayHaveBeenSent: false,
    message: expect.stringContaining("set certificate-authority"),
  });
  await expect(ask(server.url, {})).rejects.toMatchObject({ code: "CERTIFICATE_UNTRUSTED" });
  expect(await ask(server.url, { insecureSkipVerify: true })).toBe("hello");
});

test("the name in the certificate must be the server's, or the one that tls-server-name gives", async () => {
  const named = serverPair({ dnsNames: ["kubernetes.default.svc"] });
  const seen: (string | false | null | undefined)[] = [];
  await using server = await startServer((request, response) => {
    seen.push((request.socket as TLSSocket & { servername?: string | false }).servername);
    response.end("hello");
  }, served(named));
  await expect(ask(server.url, { ca: authority.certificate })).rejects.toMatchObject({
    code: "CERTIFICATE_NAME_MISMATCH",
    message: expect.stringContaining("tls-server-name"),
  });
  const material = { ca: authority.certificate, serverName: "kubernetes.default.svc" };
  expect(await ask(server.url, material)).toBe("hello");
  expect(seen).toEqual(["kubernetes.default.svc"]);
});

test("an expired certificate is reported as such", async () => {
  const longAgo = createAuthority({
    commonName: "old-ca",
    validFor: 20 * day,
    clock: { now: () => Date.now() - 10 * day },
  });
  const old = longAgo.issue({
    commonName: "server",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    validFor: day,
  });
  await using server = await startServer((_, response) => response.end(), served(old));
  await expect(ask(server.url, { ca: longAgo.certificate })).rejects.toMatchObject({
    code: "CERTIFICATE_EXPIRED",
    message: expect.stringContaining("the server's certificate has expired"),
  });
});

test("a port that does not speak TLS is reported as such", async () => {
  await using server = await startServer((_, response) => response.end());
  await expect(ask(server.url.replace("http:", "https:"), {})).rejects.toMatchObject({ code: "TLS_FAILED" });
});

test("new material gets connections of its own without a restart, and the old ones go", async () => {
  await using server = await startServer(
    (request, response) => response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN),
    { ...served(loopback), ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
  );
  const materialOf = ({ certificate, key }: KeyPair): TlsMaterial => ({
    ca: authority.certificate,
    cert: certificate,
    key,
  });
  let material = materialOf(clientPair("first"));
  const transport = networkTransport({ server: server.url, tls: () => Promise.resolve(material) });
  const whoAmI = async () => (await readAll((await transport.request(get)).body)).toString();
  expect([await whoAmI(), await whoAmI()]).toEqual(["first", "first"]);
  expect(server.connections).toBe(1);
  material = materialOf(clientPair("second"));
  expect([await whoAmI(), await whoAmI()]).toEqual(["second", "second"]);
  expect(server.connections).toBe(2);

  // Half replaced: a certificate with the key of another.
  const third = clientPair("third");
  const { key = "" } = material;
  material = { ca: authority.certificate, cert: third.certificate, key };
  expect(await whoAmI()).toBe("second");
  material = materialOf(third);
  expect(await whoAmI()).toBe("third");
  await transport.close();
});

test("a server that refuses the client certificate is reported as such", async () => {
  await using server = await startServer((_, response) => response.end(), {
    ...served(loopback),
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const stranger = otherAuthority.issue({ commonName: "x", usages: ["client"], validFor: day });
  const refused = ask(server.url, {
    ca: authority.certificate,
    cert: stranger.certificate,
    key: stranger.key,
  });
  await expect(refused).rejects.toMatchObject({
    code: expect.stringMatching(/^(CLIENT_CERTIFICATE_REJECTED|CONNECTION_RESET)$/),
  });
});

test("material that does not parse is reported without repeating it", async () => {
  await expect(
    ask("https://127.0.0.1:1", { ca: "x", cert: "hunter2", key: "hunter2" }),
  ).rejects.toMatchObject({
    code: "TLS_MATERIAL_INVALID",
    message: expect.not.stringContaining("hunter2"),
  });
});

test("a large body over TLS is whole, also where its reader is slow and the server's name has several addresses", async () => {
  const text = Array.from({ length: 200_000 }, (_, index) => `${index}\n`).join("");
  await using server = await startServer(
    (_, response) => response.end(text),
    served(serverPair({ dnsNames: ["localhost"] })),
  );
  const material = { ca: authority.certificate };
  const url = `https://localhost:${server.port}`;
  const transport = networkTransport({ server: url, tls: () => material });
  for (let round = 0; round < 2; round++) {
    const { body } = await transport.request(get);
    let seen = "";
    for await (const chunk of body) {
      seen += Buffer.from(chunk).toString();
      for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen === text).toBe(true);
  }
  expect(server.connections).toBe(1);
  await transport.close();
});
