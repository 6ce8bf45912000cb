import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { get } from "node:http";
import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@windlass/certificates";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { makeAssets } from "./assets.ts";

const command = join(import.meta.dirname, "..", "..", "bin", "windlass-control-plane.js");
const hour = 3_600_000;
const running = new Set<ChildProcess>();
let folder: string;
let assets: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "envtest-"));
  assets = makeAssets(command, folder);
});
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
  rmSync(folder, { recursive: true });
});

const file = (name: string) => join(folder, name);

/** Ports that nothing listens on at this moment. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
}

function start(program: string, ...args: string[]): Program {
  const child = spawn(join(assets, program), args, { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { child, ended, output: () => output };
}

async function startEtcd(): Promise<{ url: string; program: Program }> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const program = start(
    "etcd",
    `--data-dir=${file("etcd")}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    "--listen-peer-urls=http://127.0.0.1:0",
    "--unsafe-no-fsync=true",
  );
  return { url, program };
}

interface Response {
  readonly status: number;
  readonly body: JsonObject & { readonly message?: string };
}

/** The credentials of a request: a certificate, a token, or nothing. */
type Credentials = { readonly cert?: string; readonly key?: string; readonly token?: string };

function ask(
  port: number,
  ca: string,
  method: string,
  path: string,
  who: Credentials,
  body?: object,
): Promise<Response> {
  const { cert, key, token } = who;
  const agent = new Agent({ ca, ...(cert === undefined ? {} : { cert, key }) });
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, method, path, agent, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const body = text.startsWith("{") ? (JSON.parse(text) as Response["body"]) : { text };
        agent.destroy();
        resolve({ status: incoming.statusCode ?? 0, body });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body && JSON.stringify(body));
  });
}

const until = async (what: () => Promise<unknown>) => {
  await expect.poll(() => what().then(Boolean, () => false), { timeout: 20_000, interval: 25 }).toBe(true);
};

/** What envtest writes to its folder for certificates, and what it passes. */
function envtestCredentials(port: number, etcd: string) {
  const serving = createAuthority({ commonName: "envtest-environment", validFor: hour });
  const clients = createAuthority({ commonName: "envtest-environment", validFor: hour });
  const server = serving.issue({
    commonName: "localhost",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    validFor: hour,
  });
  const admin = clients.issue({
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    validFor: hour,
  });
  const signer = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(file("apiserver.crt"), server.certificate);
  writeFileSync(file("apiserver.key"), server.key);
  writeFileSync(file("client-ca.crt"), clients.certificate);
  writeFileSync(file("sa.pub"), signer.publicKey.export({ type: "spki", format: "pem" }));
  writeFileSync(file("sa.key"), signer.privateKey.export({ type: "pkcs1", format: "pem" }));
  writeFileSync(file("tokens.csv"), 'secret-token,carol,7,"system:masters,team"\n');
  const flags = [
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    `--cert-dir=${folder}`,
    `--client-ca-file=${file("client-ca.crt")}`,
    "--disable-admission-plugins=ServiceAccount",
    "--enable-admission-plugins=Priority,CertificateSigning,AlwaysPullImages",
    `--etcd-servers=${etcd}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${file("sa.pub")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--some-flag-of-a-later-release",
    "value",
  ];
  return { flags, ca: serving.certificate, admin: { cert: admin.certificate, key: admin.key }, clients };
}

async function startServer() {
  const etcd = await startEtcd();
  const port = await freePort();
  const { flags, ca, admin, clients } = envtestCredentials(port, etcd.url);
  const server = start("kube-apiserver", ...flags);
  const send = (who: Credentials, method: string, path: string, body?: object) =>
    ask(port, ca, method, path, who, body);
  await until(async () => (await send({}, "GET", "/healthz")).status === 200);
  return { etcd, server, flags, admin, clients, send };
}

const maps = "/api/v1/namespaces/default/configmaps";

test("the folder has the programs, and is made once", () => {
  expect(readdirSync(assets).sort()).toEqual(["etcd", "kube-apiserver", "kubectl"]);
  for (const name of readdirSync(assets)) expect(statSync(join(assets, name)).mode & 0o111).toBe(0o111);
  const before = statSync(assets).ino;
  expect(makeAssets(command, folder)).toBe(assets);
  expect(statSync(assets).ino).toBe(before);
  expect(readdirSync(folder)).toEqual([assets.slice(folder.length + 1)]);
});

test("the programs start from a folder with quotes and spaces in its name", () => {
  const odd = join(folder, "it's a $HOME");
  const script = readFileSync(join(makeAssets(command, odd), "etcd"), "utf8");
  expect(script).toContain(`'${process.execPath}'`);
  expect(execFileSync(join(makeAssets(command, odd), "etcd"), ["--version"], { encoding: "utf8" })).toMatch(
    /^etcd Version: 3\./,
  );
});

test("kubectl is the one of the PATH, also where the folder or another of its kind is on it", () => {
  const elsewhere = file("a bin");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "kubectl"), '#!/bin/sh\necho "$PATH" "$@"\n', { mode: 0o755 });
  const other = makeAssets(command, file("other"));
  symlinkSync(assets, file("link"));
  const kubectl = (path: string) =>
    spawnSync(join(file("link"), "kubectl"), ["get", "a b"], { env: { PATH: path }, encoding: "utf8" });
  const path = `${assets}:${other}:${file("link")}:${elsewhere}:/usr/bin:/bin`;
  expect(kubectl(path).stdout).toBe(`${elsewhere}:/usr/bin:/bin get a b\n`);
  const tools = file("tools");
  mkdirSync(tools);
  symlinkSync(execFileSync("which", ["dirname"], { encoding: "utf8" }).trim(), join(tools, "dirname"));
  const missing = kubectl(`${assets}:${tools}`);
  expect(missing.status).toBe(127);
  expect(missing.stderr).toContain("kubectl: not found on the PATH");
});

test("the programs load what the package manager needs to find them", () => {
  const loader = file("loader.cjs");
  writeFileSync(loader, 'console.log("loaded");');
  const programs = makeAssets(command, folder, `--require ${loader}`);
  expect(programs).not.toBe(assets);
  expect(execFileSync(join(programs, "etcd"), ["--version"], { encoding: "utf8" })).toMatch(
    /^loaded\netcd Version: 3\./,
  );
});

test("a place that cannot be written to is named, with the way out", () => {
  writeFileSync(file("text"), "");
  expect(() => makeAssets(command, file("text/cache"))).toThrow(
    /text\/cache\/assets-\w+ could not be made: part of its path is a file, not a folder; set XDG_CACHE_HOME/,
  );
});

test("the command prints the folder, alone on a line", () => {
  const env = { ...process.env, XDG_CACHE_HOME: file("cache") };
  const printed = execFileSync(process.execPath, [command, "assets"], { env, encoding: "utf8" });
  expect(printed).toBe(`${join(file("cache"), "windlass", assets.slice(folder.length + 1))}\n`);
  expect(existsSync(join(printed.trim(), "kube-apiserver"))).toBe(true);
});

test("help lists what suites look for, and not what the real server has no more", () => {
  const help = (name: string) => execFileSync(join(assets, name), ["--help"], { encoding: "utf8" });
  expect(help("etcd")).toMatch(/^\s*--unsafe-no-fsync\b/m);
  expect(help("kube-apiserver")).toMatch(/^\s*--secure-port\b/m);
  expect(help("kube-apiserver")).not.toMatch(/^\s*--insecure-port\b/m);
  expect(execFileSync(join(assets, "kube-apiserver"), ["--version"], { encoding: "utf8" })).toMatch(
    /^Kubernetes v1\.\d+\.\d+\n$/,
  );
});

test("etcd says that it is healthy, and ends when it is stopped", async () => {
  const { url, program } = await startEtcd();
  const health = () =>
    new Promise<string>((resolve, reject) => {
      get(`${url}/health`, (response) =>
        response.once("data", (data: Buffer) => resolve(data.toString())),
      ).on("error", reject);
    });
  await until(health);
  expect(JSON.parse(await health())).toEqual({ health: "true", reason: "" });
  program.child.kill("SIGTERM");
  expect(await program.ended).toBe(0);
});

test("only their authority, tokens and keys are accepted", async () => {
  const { send, admin, clients, server } = await startServer();
  expect((await send(admin, "GET", maps)).status).toBe(200);
  expect((await send({ token: "secret-token" }, "GET", maps)).status).toBe(200);
  expect((await send({ token: "other-token" }, "GET", maps)).status).toBe(401);
  expect((await send({}, "GET", maps)).status).toBe(403);
  const stranger = createAuthority({ commonName: "envtest-environment", validFor: hour });
  const issue = {
    commonName: "eve",
    organizations: ["system:masters"],
    usages: ["client" as const],
    validFor: hour,
  };
  const { certificate, key } = stranger.issue(issue);
  expect((await send({ cert: certificate, key }, "GET", maps)).status).toBe(401);
  const developer = clients.issue({ ...issue, organizations: ["dev"] });
  const refused = await send({ cert: developer.certificate, key: developer.key }, "GET", maps);
  expect(refused).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('User "eve" cannot list') },
  });
  const review = await send(
    { token: "secret-token" },
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    {},
  );
  expect(review.body.status).toEqual({
    userInfo: { username: "carol", uid: "7", groups: ["system:masters", "team", "system:authenticated"] },
  });
  await send(admin, "POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "sa" } });
  const asked = await send(admin, "POST", "/api/v1/namespaces/default/serviceaccounts/sa/token", {
    spec: {},
  });
  const { token } = asked.body.status as { token: string };
  expect(decodeProtectedHeader(token).alg).toBe("RS256");
  expect(decodeJwt(token).iss).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/);
  expect((await send({ token }, "GET", maps)).body.message).toContain("system:serviceaccount:default:sa");
  const began = performance.now();
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("everybody whom it knows may do everything without an authorization mode, and strangers nothing", async () => {
  const etcd = await startEtcd();
  const port = await freePort();
  const { flags, ca, admin, clients } = envtestCredentials(port, etcd.url);
  start("kube-apiserver", ...flags.filter((flag) => !flag.startsWith("--authorization-mode")));
  await until(async () => (await ask(port, ca, "GET", "/readyz", admin)).status === 200);
  const { certificate, key } = clients.issue({ commonName: "nobody", usages: [], validFor: hour });
  expect((await ask(port, ca, "GET", maps, { cert: certificate, key })).status).toBe(200);
  expect((await ask(port, ca, "GET", maps, {})).status).toBe(401);
});

test("no controllers run but the one for default/kubernetes, and what flags turn off is off", async () => {
  const { send, admin, server } = await startServer();
  expect(server.output()).toContain("there is no AlwaysPullImages here");
  expect(server.output().match(/there is no/g)).toHaveLength(1);
  await until(
    async () => (await send(admin, "GET", "/api/v1/namespaces/default/services/kubernetes")).status === 200,
  );
  const { body } = await send(admin, "GET", "/api/v1/namespaces/default/services/kubernetes");
  expect(body.spec).toMatchObject({ clusterIP: "10.0.0.1" });
  // With the plugin ServiceAccount it would be refused for want of an account.
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
  expect((await send(admin, "POST", "/api/v1/namespaces/default/pods", pod)).status).toBe(201);
  expect((await send(admin, "GET", "/api/v1/namespaces/default/serviceaccounts")).body.items).toEqual([]);
  expect((await send(admin, "GET", "/api/v1/nodes")).body.items).toEqual([]);
});

test("data outlives the API server, also after a kill, and etcd", async () => {
  const { send, admin, server, flags, etcd } = await startServer();
  const made = await send(admin, "POST", maps, { metadata: { name: "kept" } });
  server.child.kill("SIGKILL");
  await server.ended;
  const second = start("kube-apiserver", ...flags);
  await until(async () => (await send({}, "GET", "/healthz")).status === 200);
  expect((await send(admin, "GET", `${maps}/kept`)).body).toEqual(made.body);
  second.child.kill("SIGTERM");
  await second.ended;
  etcd.program.child.kill("SIGTERM");
  await etcd.program.ended;
  // Both at once, as some suites do: the API server waits for etcd.
  start("kube-apiserver", ...flags);
  start("etcd", `--data-dir=${file("etcd")}`, `--listen-client-urls=${etcd.url}`);
  await until(async () => (await send({}, "GET", "/healthz")).status === 200);
  expect((await send(admin, "GET", `${maps}/kept`)).body).toEqual(made.body);
});

test("without certificates it makes some, and leaves them where clients look", async () => {
  const etcd = await startEtcd();
  const port = await freePort();
  start(
    "kube-apiserver",
    "--etcd-servers",
    etcd.url,
    "--secure-port",
    String(port),
    "--cert-dir",
    file("certs"),
    "--bind-address",
    "127.0.0.1",
  );
  await until(async () => existsSync(file("certs/apiserver.key")));
  const ca = () => readFileSync(file("certs/apiserver.crt"), "utf8");
  // Without an authorization mode strangers are refused, as by the real server.
  await until(async () => (await ask(port, ca(), "GET", "/readyz", {})).status === 401);
  expect(statSync(file("certs/apiserver.key")).mode & 0o077).toBe(0);
});

test("an etcd of another test is refused by name", async () => {
  const other = createServer((socket) => socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  const server = start("kube-apiserver", `--etcd-servers=http://127.0.0.1:${port}`);
  expect(await server.ended).toBe(1);
  expect(server.output()).toBe(
    `kube-apiserver: --etcd-servers: http://127.0.0.1:${port} is another etcd: this kube-apiserver needs the one from its own folder\n`,
  );
  other.close();
});

test("a cache folder that cannot be written to is an error that names it", () => {
  const locked = file("locked");
  writeFileSync(locked, "");
  expect(() => makeAssets(command, join(locked, "cache"))).toThrow(locked);
});
