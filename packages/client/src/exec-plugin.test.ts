import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ExecPlugin } from "./exec-plugin.ts";
import type { ExecConfig } from "./kubeconfig/kubeconfig.ts";

const apiVersion = "client.authentication.k8s.io/v1";
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-exec-"));
});
afterAll(() => rm(folder, { recursive: true }));

/**
 * A plugin that notes each run with its input, and prints the given status with a token of
 * its own.
 */
async function pluginWith(script: string, more: Partial<ExecConfig> = {}, clock = new ManualClock()) {
  const name = join(folder, `plugin-${Math.random().toString(36).slice(2)}`);
  const program = `
    const { appendFileSync, readFileSync } = require("node:fs");
    appendFileSync(${JSON.stringify(`${name}.runs`)}, process.env.KUBERNETES_EXEC_INFO + "\\n");
    const run = readFileSync(${JSON.stringify(`${name}.runs`)}, "utf8").trim().split("\\n").length;
    const print = (status) => console.log(JSON.stringify({ apiVersion: "${apiVersion}", kind: "ExecCredential", status }));
    ${script}`;
  await writeFile(`${name}.cjs`, program);
  const config: ExecConfig = {
    apiVersion,
    command: process.execPath,
    args: [`${name}.cjs`],
    env: [{ name: "FROM_KUBECONFIG", value: "yes" }],
    provideClusterInfo: false,
    interactiveMode: "Never",
    ...more,
  };
  const cluster = {
    server: "https://x:6443",
    certificateAuthorityData: "Q0E=",
    tlsServerName: "kubernetes",
    extensions: new Map([["client.authentication.k8s.io/exec", { audience: "me" }]]),
  };
  const access = { cluster, user: {}, namespace: "default", source: "test" };
  const runs = async () =>
    (await readFile(`${name}.runs`, "utf8"))
      .trim()
      .split("\n")
      .map((it) => JSON.parse(it));
  return { plugin: new ExecPlugin(config, access, clock), runs, clock };
}

test("however many ask, the program runs once, and once again for a credential that expires", async () => {
  const expires = new Date(Date.UTC(2026, 0, 1) + 60_000).toISOString();
  const { plugin, runs, clock } = await pluginWith(
    `print({ token: "t" + run + process.env.FROM_KUBECONFIG, expirationTimestamp: run === 1 ? "${expires}" : undefined })`,
  );
  const [one, two] = await Promise.all([plugin.current(), plugin.current()]);
  expect(one).toEqual({ authorization: "Bearer t1yes" });
  expect(two).toBe(one);
  await clock.advance(59_999);
  expect(await plugin.current()).toBe(one);
  await clock.advance(1);
  expect(await plugin.current()).toEqual({ authorization: "Bearer t2yes" });
  expect(await runs()).toHaveLength(2);
});

test("a credential is renewed before it expires, and no request waits for it", async () => {
  const expires = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
  const { plugin, runs, clock } = await pluginWith(
    `print({ token: "t" + run, expirationTimestamp: run === 1 ? "${expires(60)}" : "${expires(3_600)}" })`,
  );
  const first = await plugin.current();
  await clock.advance(47_000);
  expect(plugin.current()).toBe(first);
  await clock.advance(2_000);
  // At once, and not as a promise.
  expect(plugin.current()).toBe(first);
  await expect.poll(() => plugin.current(), { timeout: 10_000 }).toEqual({ authorization: "Bearer t2" });
  expect(await runs()).toHaveLength(2);
  // Of an hour it is the last two minutes.
  await clock.advance(3_600_000 - 49_000 - 121_000);
  expect(plugin.current()).toEqual({ authorization: "Bearer t2" });
  await clock.advance(2_000);
  expect(plugin.current()).toEqual({ authorization: "Bearer t2" });
  await expect.poll(async () => (await runs()).length, { timeout: 10_000 }).toBe(3);
});

test("a program that fails before its credential expires is not run again until then, and is reported then", async () => {
  const expires = new Date(Date.UTC(2026, 0, 1) + 60_000).toISOString();
  const { plugin, runs, clock } = await pluginWith(
    `if (run > 1) process.exit(3); print({ token: "t", expirationTimestamp: "${expires}" })`,
  );
  const first = await plugin.current();
  await clock.advance(50_000);
  expect(plugin.current()).toBe(first);
  await expect.poll(async () => (await runs()).length, { timeout: 10_000 }).toBe(2);
  for (let i = 0; i < 10; i++) {
    await new Promise(setImmediate);
    expect(plugin.current()).toBe(first);
  }
  await clock.advance(10_000);
  await expect(plugin.current()).rejects.toThrow("failed (exit status 3)");
});

test("a refused credential is replaced, but only if it is still the one in use", async () => {
  const { plugin, runs } = await pluginWith(`print({ token: "t" + run })`);
  const first = await plugin.current();
  plugin.invalidate(first);
  const second = await plugin.current();
  plugin.invalidate(first);
  expect(await plugin.current()).toBe(second);
  expect(await runs()).toHaveLength(2);
});

test("a client certificate is a credential too", async () => {
  const { plugin } = await pluginWith(`print({ clientCertificateData: "C", clientKeyData: "K" })`);
  expect(await plugin.current()).toEqual({ cert: "C", key: "K" });
});

test("the program receives the cluster only if it asks for that", async () => {
  const script = `print({ token: "t" })`;
  const without = await pluginWith(script);
  await without.plugin.current();
  expect(await without.runs()).toEqual([
    { apiVersion, kind: "ExecCredential", spec: { interactive: false } },
  ]);
  const told = await pluginWith(script, { provideClusterInfo: true });
  await told.plugin.current();
  expect((await told.runs())[0].spec.cluster).toEqual({
    server: "https://x:6443",
    "tls-server-name": "kubernetes",
    "certificate-authority-data": "Q0E=",
    config: { audience: "me" },
  });
});

test.each([
  [`process.exit(3)`, "failed (exit status 3); what it wrote to stderr says why"],
  [`console.log("hunter2")`, "did not print an ExecCredential as JSON"],
  [`print({})`, "printed neither a token nor a client certificate"],
  [`print({ clientKeyData: "hunter2" })`, "printed a client certificate without its key, or a key alone"],
  [
    `console.log(JSON.stringify({ kind: "ExecCredential", apiVersion: "x", status: { token: "hunter2" } }))`,
    `printed an ExecCredential of another apiVersion than ${apiVersion}, which the kubeconfig names`,
  ],
])("%s is reported in one line, without the output", async (script, fault) => {
  const { plugin } = await pluginWith(script);
  await expect(plugin.current()).rejects.toMatchObject({
    code: "CREDENTIALS_FAILED",
    mayHaveBeenSent: false,
    message: `exec plugin ${JSON.stringify(process.execPath)} ${fault}`,
  });
});

test("a missing program is reported with its installation hint, and tried again the next time", async () => {
  const { plugin } = await pluginWith("", {
    command: "no-such-plugin",
    installHint: "get it from example.com\n",
  });
  for (let i = 0; i < 2; i++) {
    await expect(plugin.current()).rejects.toThrow(
      'exec plugin "no-such-plugin" is not installed, or not in PATH; get it from example.com',
    );
  }
});

test("a program that must ask a person is not started without a terminal", async () => {
  const { plugin } = await pluginWith(`print({ token: "t" })`, { interactiveMode: "Always" });
  await expect(plugin.current()).rejects.toThrow("there is no terminal");
});

test("a program that prints without end is ended", async () => {
  const { plugin } = await pluginWith(`setInterval(() => process.stdout.write("x".repeat(100_000)), 1)`);
  await expect(plugin.current()).rejects.toThrow("printed more than 1048576 bytes, which is no credential");
});

test("a program that hangs is ended after a minute", async () => {
  const clock = new ManualClock();
  const { plugin, runs } = await pluginWith(`setInterval(() => {}, 1000)`, {}, clock);
  const rejected = expect(plugin.current()).rejects.toThrow("did not end within 60 s");
  await expect.poll(() => runs().catch(() => [])).toHaveLength(1);
  await clock.advance(60_000);
  await rejected;
});
