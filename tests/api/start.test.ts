import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAuthority, type KeyPair } from "@windlass/certificates";
import { findAccess, kubeconfigFor } from "@windlass/client";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const day = 86_400_000;
const program = fileURLToPath(new URL("operator-program.ts", import.meta.url));
const patience = { timeout: 60_000 };

let cluster: TestCluster;
let folder: string;

beforeAll(async () => {
  [cluster, folder] = await Promise.all([startCluster(), mkdtemp(join(tmpdir(), "windlass-start-"))]);
}, 90_000);
afterAll(async () => {
  await Promise.all([cluster.close(), rm(folder, { recursive: true })]);
}, 60_000);

interface Line {
  readonly level: string;
  readonly code?: string;
  readonly msg: string;
}

/** Runs the operator in a process of its own until it ends. */
async function end(env: Readonly<Record<string, string>>) {
  const inherited = { PATH: process.env.PATH ?? "", HOME: folder };
  const child = spawn(process.execPath, [program], { env: { ...inherited, ...env }, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const text = async (stream: AsyncIterable<Buffer>) => (await Array.fromAsync(stream)).join("");
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("exit", resolve)),
  ]);
  const lines = out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
  return { lines, err, code };
}

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function takenPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that could be an API server, were it not for its certificate. */
async function impostor({ certificate, key }: KeyPair): Promise<string> {
  const server = createServer({ cert: certificate, key }, (_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const longAgo = { now: () => Date.now() - 10 * day };
const authority = createAuthority({ commonName: "ca", validFor: 30 * day, clock: longAgo });
const other = createAuthority({ commonName: "other", validFor: day });
const serving = { commonName: "server", ipAddresses: ["127.0.0.1"], usages: ["server"] } as const;

/** One line at level fatal with these words, code 1, and not a word on standard error. */
async function expectOneLine(env: Readonly<Record<string, string>>, code: string, words: RegExp) {
  const ended = await end(env);
  expect(ended).toMatchObject({ err: "", code: 1 });
  expect(ended.lines).toMatchObject([{ level: "fatal", code, msg: expect.stringMatching(words) }]);
}

test("a kubeconfig that is not one is named, with the place", patience, async () => {
  const malformed = await file("malformed", "clusters:\n  - name: [\n");
  await expectOneLine(
    { KUBECONFIG: malformed },
    "KUBECONFIG_INVALID",
    /^cannot start: kubeconfig \S+malformed: not valid YAML at line 3; check quotes and indentation$/,
  );
  const missing = join(folder, "missing");
  await expectOneLine(
    { KUBECONFIG: missing },
    "KUBECONFIG_NOT_FOUND",
    /^cannot start: KUBECONFIG is "\S+missing", and there is no such file; correct it/,
  );
  await expectOneLine(
    { KUBECONFIG: await file("empty", "") },
    "KUBECONFIG_INVALID",
    /^cannot start: kubeconfig \S+empty: it is empty.*; write one/,
  );
  await expectOneLine(
    {},
    "KUBECONFIG_NOT_FOUND",
    /^cannot start: no cluster is configured: .*; set KUBECONFIG/,
  );
});

test("an unknown log level is reported, and the line is still written", patience, async () => {
  const { lines, err } = await end({ LOG_LEVEL: "loud" });
  expect(err).toBe("");
  expect(lines).toMatchObject([
    {
      level: "warn",
      msg: expect.stringMatching(/^LOG_LEVEL is "loud", and there are .*info.*; going on with info$/),
    },
    { level: "fatal", code: "KUBECONFIG_NOT_FOUND" },
  ]);
});

test("a server that does not answer is named, with who configured it", patience, async () => {
  const kubeconfig = await file("refused", kubeconfigFor({ server: "https://127.0.0.1:1", token: "t" }));
  await expectOneLine(
    { KUBECONFIG: kubeconfig },
    "CONNECTION_REFUSED",
    /^cannot start: GET https:\/\/127\.0\.0\.1:1\/version: connection refused: .*\? \(configured by \S+refused\)$/,
  );
});

test("an expired or untrusted server certificate is reported as such", patience, async () => {
  const ca = authority.certificate;
  const old = await impostor(authority.issue({ ...serving, validFor: day }));
  await expectOneLine(
    { KUBECONFIG: await file("old", kubeconfigFor({ server: old, ca, token: "t" })) },
    "CERTIFICATE_EXPIRED",
    /: the server's certificate has expired; renew it, or correct this machine's clock \(configured by \S+old\)$/,
  );
  const strange = await impostor(other.issue({ ...serving, validFor: day }));
  await expectOneLine(
    { KUBECONFIG: await file("strange", kubeconfigFor({ server: strange, ca, token: "t" })) },
    "CERTIFICATE_UNTRUSTED",
    /: the server's certificate is not signed by a CA that is trusted here; set certificate-authority/,
  );
});

test("credentials that have expired are reported as such", patience, async () => {
  const access = await findAccess({ kubeconfig: await cluster.kubeconfig() });
  const { server, certificateAuthorityData, certificateAuthority } = access.cluster;
  const ca = certificateAuthorityData
    ? Buffer.from(certificateAuthorityData, "base64").toString()
    : await readFile(certificateAuthority ?? "", "utf8");
  const { certificate: cert, key } = authority.issue({
    commonName: "me",
    usages: ["client"],
    validFor: day,
  });
  await expectOneLine(
    { KUBECONFIG: await file("expired", kubeconfigFor({ server, ca, cert, key })) },
    "CLIENT_CERTIFICATE_REJECTED",
    /the server does not accept the client certificate of \S+expired, which expired at \S+Z; renew it$/,
  );
  await expectOneLine(
    { KUBECONFIG: await file("wrong", kubeconfigFor({ server, ca, token: "wrong" })) },
    "API_UNAUTHORIZED",
    /^cannot start: the server of \S+wrong: .*the server does not accept the credentials: .*; log in again or renew them$/,
  );
});

test.for([
  ["HEALTH", "health", "health: { port }"],
  ["METRICS", "metrics", "metrics: { port }"],
  ["WEBHOOKS", "webhooks", "webhookServer({ port })"],
] as const)(
  "a port that is taken for %s is named, with the option",
  patience,
  async ([variable, what, option]) => {
    const taken = String(await takenPort());
    const { lines, code, err } = await end({ KUBECONFIG: await cluster.kubeconfig(), [variable]: taken });
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.level).toBe("fatal");
    expect(lines[0]?.msg).toContain(`port ${taken} for ${what} is in use; set another with ${option}`);
  },
);
