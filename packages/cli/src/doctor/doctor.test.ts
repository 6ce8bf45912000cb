import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createAuthority } from "@windlass/certificates";
import { applyManifest, Client, type Interceptor } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import {
  ClusterRole,
  CustomResourceDefinition,
  Deployment,
  Lease,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manifestsOf } from "../generate/accepted.ts";
import { generatedFiles } from "../generate/files.ts";
import { relayOperator } from "../generate/relay-operator.fixture.ts";
import { resolveOperator } from "../generate/resolve.ts";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";
import { examine } from "./examine.ts";
import type { Finding } from "./finding.ts";
import { examineDeployment } from "./workload.ts";

const day = 86_400_000;
const namespace = "relay-system";
const manifests = manifestsOf(generatedFiles(resolveOperator(relayOperator, "1.0.0"))).map(([, one]) => one);

let folder: string;
let plane: ControlPlane;
let client: Client;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-doctor-"));
  const fixture = join(import.meta.dirname, "..", "generate", "relay-operator.fixture.ts");
  await writeFile(
    join(folder, "windlass.config.ts"),
    `export { relayOperator as operator } from ${JSON.stringify(fixture)};`,
  );
  await writeFile(join(folder, "package.json"), '{ "type": "module", "version": "1.0.0" }');
  plane = await ControlPlane.start();
  client = new Client({ transport: plane.connect(), fieldManager: "test", onWarning: () => undefined });
  await plane.listen();
  await writeFile(join(folder, "kubeconfig"), await plane.kubeconfig());
});
afterAll(async () => {
  await client.close();
  await plane.close();
  await rm(folder, { recursive: true, force: true });
});

async function doctor(...args: readonly string[]) {
  return await doctorBy("kubeconfig", ...args);
}

async function doctorBy(kubeconfig: string, ...args: readonly string[]) {
  const terminal = recordingTerminal({ folder, env: { KUBECONFIG: join(folder, kubeconfig) } });
  const code = await runProgram(windlass, ["doctor", "--json", ...args], terminal);
  const lines = terminal.said().trim().split("\n");
  const findings = lines.map((line) => JSON.parse(line) as Finding);
  return {
    code,
    findings,
    faults: findings.filter(({ is }) => is === "fault"),
    complained: terminal.complained(),
  };
}

const about = (findings: readonly Finding[]) => findings.map((one) => one.about);

/** Makes the operator look as if it ran. */
async function install(): Promise<void> {
  for (const manifest of manifests) await applyManifest(client, manifest, { force: true });
  for (const { metadata } of manifests.filter(({ kind }) => kind === "Deployment"))
    await waitFor(
      client,
      Deployment,
      { namespace, name: metadata.name },
      ({ spec, status }) => status?.availableReplicas === spec?.replicas,
    );
  await client.apply(
    Lease,
    {
      metadata: { namespace, name: "relay-operator" },
      spec: {
        holderIdentity: "pod-1",
        leaseDurationSeconds: 15,
        renewTime: new Date(Date.now()).toISOString().replace("Z", "000Z"),
      },
    },
    { force: true },
  );
  await trust(365 * day);
}

/** Has the API server trust the webhooks for some time. */
async function trust(validForMs: number): Promise<void> {
  // Made when it was valid.
  const clock = { now: () => Date.now() - 400 * day };
  const authority = createAuthority({
    commonName: "test",
    clock,
    notAfter: Date.now() + validForMs,
  });
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  await client.patch(
    ValidatingWebhookConfiguration,
    { name: "relay-operator" },
    {
      type: "json",
      patch: [{ op: "add", path: "/webhooks/0/clientConfig/caBundle", value: caBundle }],
    },
  );
}

beforeEach(install);

test("an operator that is installed and runs has no faults", async () => {
  const { code, findings, faults } = await doctor();
  expect(faults).toEqual([]);
  expect(code).toBe(0);
  expect(about(findings)).toEqual(
    expect.arrayContaining([
      "Node.js",
      "API server",
      "CRD relays.net.acme.io",
      "Deployment relay-operator-gateway",
      "Rights of relay-operator",
      "Lease relay-operator",
      "Webhook validate.relays.net.acme.io",
      "Service relay-operator-webhook",
    ]),
  );
});

test("a right that is missing is named", async () => {
  const key = { name: "relay-operator" };
  const { rules } = await client.get(ClusterRole, key);
  const without = (rules ?? []).map((rule) => ({
    ...rule,
    verbs: rule.verbs.filter((verb) => verb !== "delete"),
  }));
  await client.patch(ClusterRole, key, { type: "merge", patch: { rules: without } });
  const { code, faults } = await doctor();
  expect(faults).toMatchObject([{ about: "Rights of relay-operator", words: "may not delete services" }]);
  expect(code).toBe(1);
});

test("a CRD that is older than the code is reported", async () => {
  const name = "relays.net.acme.io";
  const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/port/minimum";
  await client.patch(CustomResourceDefinition, { name }, { type: "json", patch: [{ op: "remove", path }] });
  const { findings } = await doctor();
  expect(findings).toContainEqual(
    expect.objectContaining({ is: "warning", about: `CRD ${name}`, words: "is not what the code says" }),
  );
});

test.for([
  [-day, "fault"],
  [3 * day, "warning"],
] as const)("a certificate that ends in %d ms is a %s", async ([validForMs, is]) => {
  await trust(validForMs);
  const { findings } = await doctor();
  expect(findings.find((one) => one.about.startsWith("Webhook validate"))?.is).toBe(is);
});

test("a leader that has gone silent is reported", async () => {
  const spec = { renewTime: "2026-01-01T00:00:00.000000Z" };
  await client.patch(Lease, { namespace, name: "relay-operator" }, { type: "merge", patch: { spec } });
  expect((await doctor()).faults).toMatchObject([{ about: "Lease relay-operator" }]);
});

test("a lease is as old as it is on the server, whatever this machine's clock says", async () => {
  for (const [aheadMs, words] of [
    [-3_600_000, /^this machine's is 3\d\d\d s behind the API server's$/],
    [3_600_000, /^this machine's is 3\d\d\d s ahead of the API server's$/],
  ] as const) {
    const findings = await Array.fromAsync(
      examine({
        folder,
        operator: resolveOperator(relayOperator, "1.0.0"),
        env: { KUBECONFIG: join(folder, "kubeconfig") },
        now: () => Date.now() + aheadMs,
        node: "24.0.0",
      }),
    );
    expect(findings.filter(({ is }) => is === "fault")).toEqual([]);
    expect(findings).toContainEqual(
      expect.objectContaining({ is: "warning", about: "Clock", words: expect.stringMatching(words) }),
    );
  }
});

const relay = { namespace, name: "relay-operator" };
const at = "2026-01-01T00:00:00Z";
const condition = { lastUpdateTime: at, lastTransitionTime: at };

test.for([
  [
    "that has passed its deadline",
    {
      conditions: [
        {
          type: "Progressing",
          status: "False",
          reason: "ProgressDeadlineExceeded",
          message: 'ReplicaSet "relay-operator-7" has timed out progressing.',
          ...condition,
        },
      ],
    },
    "fault",
    /^2 of 2 available, but its rollout is stuck: ProgressDeadlineExceeded: ReplicaSet "relay/,
  ],
  [
    "whose pods may not be made",
    {
      conditions: [
        { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "no quota", ...condition },
      ],
    },
    "fault",
    /stuck: FailedCreate: no quota$/,
  ],
  [
    "in which pods are still of the old template",
    { updatedReplicas: 1 },
    "warning",
    /^2 of 2 available, but only 1 of the newest template$/,
  ],
  [
    "in which old pods are still there",
    { replicas: 3 },
    "warning",
    /^2 of 2 available, but 1 of an older template too$/,
  ],
  ["that nobody has begun", { observedGeneration: 0 }, "warning", /newest change has not been looked at$/],
] as const)("a rollout %s is told, though all are available", async ([, status, is, words]) => {
  // What a controller manager would write, if it had come to that.
  const rolling: Interceptor = (next) => ({
    close: () => next.close(),
    request: async (request) => {
      const response = await next.request(request);
      if (!request.path.endsWith("/deployments/relay-operator")) return response;
      const body = Buffer.concat(await Array.fromAsync(response.body)).toString();
      const present = JSON.parse(body) as Deployment;
      const changed = JSON.stringify({ ...present, status: { ...present.status, ...status } });
      return { ...response, body: Readable.from([Buffer.from(changed)]) };
    },
  });
  const { manager } = resolveOperator(relayOperator, "1.0.0");
  expect(await examineDeployment(client.through(rolling), manager, namespace)).toMatchObject({
    is,
    words: expect.stringMatching(words),
  });
});

test("a Deployment that is paused is told", async () => {
  await client.patch(Deployment, relay, { type: "merge", patch: { spec: { paused: true } } });
  const { findings } = await doctor();
  await client.patch(Deployment, relay, { type: "merge", patch: { spec: { paused: null } } });
  expect(findings).toContainEqual(
    expect.objectContaining({ is: "warning", words: "is paused: changes of it do nothing" }),
  );
});

test("where nothing is installed, each thing that is missing has its remedy", async () => {
  const { code, faults } = await doctor("--namespace", "elsewhere");
  expect(code).toBe(1);
  expect(about(faults)).toEqual(
    expect.arrayContaining([
      "Deployment relay-operator",
      "Lease relay-operator",
      "Service relay-operator-webhook",
    ]),
  );
  for (const one of faults) expect(one).toHaveProperty("remedy", expect.stringMatching(/.{10}/));
});

test("what one may not look at is said, and the rest is looked at", async () => {
  await writeFile(join(folder, "nobody"), await plane.kubeconfig({ anonymous: true }));
  const { code, findings } = await doctorBy("nobody");
  expect(code).toBe(0);
  expect(findings.filter(({ is }) => is === "skipped")).toMatchObject([
    {
      about: "CRD relays.net.acme.io",
      words: expect.stringContaining('User "system:anonymous" cannot get resource'),
    },
    { about: "Deployment relay-operator" },
    { about: "Rights of relay-operator" },
    { about: "Deployment relay-operator-gateway" },
    { about: "Rights of relay-operator-gateway" },
    { about: "Deployment relay-operator-log-sink" },
    { about: "Lease relay-operator" },
    { about: "Webhooks" },
  ]);
});

test("a Deployment that was scaled to nothing is told with how to scale it back", async () => {
  const key = { namespace, name: "relay-operator" };
  await client.patch(Deployment, key, { type: "merge", patch: { spec: { replicas: 0 } } });
  const { faults } = await doctor();
  expect(faults).toContainEqual({
    is: "fault",
    about: "Deployment relay-operator",
    words: "is scaled to 0",
    remedy: "kubectl -n relay-system scale deploy/relay-operator --replicas 2",
  });
});

test("a request that the server fails is a fault, and the rest is looked at", async () => {
  // A webhook on definitions that nobody answers: the server refuses to say what it would store.
  const name = "broken";
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name },
    webhooks: [
      {
        name: "broken.acme.io",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        clientConfig: { url: "https://127.0.0.1:1/" },
        rules: [
          {
            apiGroups: ["apiextensions.k8s.io"],
            apiVersions: ["v1"],
            resources: ["customresourcedefinitions"],
            operations: ["*"],
          },
        ],
      },
    ],
  });
  try {
    const { code, findings, faults } = await doctor();
    expect(code).toBe(1);
    expect(faults).toEqual([
      {
        is: "fault",
        about: "CRD relays.net.acme.io",
        words: expect.stringContaining('failed calling webhook "broken.acme.io"'),
        remedy: expect.stringContaining("webhook"),
      },
    ]);
    expect(about(findings)).toContain("Lease relay-operator");
  } finally {
    await client.delete(ValidatingWebhookConfiguration, { name });
  }
});

test("a server that is lost meanwhile is told, and nothing more is asked of it", async () => {
  const address = await plane.listen();
  const { hostname, port } = new URL(address);
  // Answers a few requests, and goes.
  const relay = createServer((socket) => {
    const up = connect(Number(port), hostname);
    socket.pipe(up).pipe(socket);
    for (const end of [socket, up]) end.on("error", () => undefined);
    let chunks = 0;
    up.on("data", () => {
      chunks += 1;
      if (chunks === 8) relay.close();
      if (chunks >= 8) for (const end of [socket, up]) end.destroy();
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const lost = `https://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  await writeFile(join(folder, "lost"), (await plane.kubeconfig()).replace(address, lost));
  const { code, findings, faults, complained } = await doctorBy("lost");
  expect(code).toBe(1);
  expect(faults.at(-1)).toMatchObject({ about: "API server", remedy: expect.stringContaining("kubectl") });
  expect(about(findings)).not.toContain("Webhooks");
  expect(complained).toContain("1 fault found");
});

test("without a cluster it says so, and looks no further", async () => {
  const nowhere = recordingTerminal({ folder, env: { KUBECONFIG: join(folder, "gone") } });
  expect(await runProgram(windlass, ["doctor"], nowhere)).toBe(1);
  expect(nowhere.said()).toMatch(/✗ Kubeconfig: .*\n {4}→ get a kubeconfig.*\n$/);
  expect(nowhere.complained()).toContain("1 fault found");
  const closed = join(folder, "closed");
  await writeFile(
    closed,
    "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{ name: a, context: { cluster: a, user: a } }]\n" +
      "clusters: [{ name: a, cluster: { server: 'https://127.0.0.1:1' } }]\nusers: [{ name: a, user: { token: x } }]\n",
  );
  const down = recordingTerminal({ folder, env: { KUBECONFIG: closed } });
  expect(await runProgram(windlass, ["doctor"], down)).toBe(1);
  expect(down.said()).toContain("✗ API server: ");
});

test.for([
  ["#!/bin/sh\nexit 7\n", "log in again with the tool of your cluster's provider"],
  [undefined, "install the program that the kubeconfig names under exec"],
] as const)("a plugin that gives no credentials is told with its own remedy: %j", async ([plugin, words]) => {
  if (plugin !== undefined) await writeFile(join(folder, "plugin"), plugin, { mode: 0o755 });
  const command = plugin === undefined ? "./no-such-plugin" : "./plugin";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }],
    users: [
      {
        name: "a",
        user: {
          exec: { apiVersion: "client.authentication.k8s.io/v1", command, interactiveMode: "Never" },
        },
      },
    ],
  };
  await writeFile(join(folder, "exec"), JSON.stringify(config));
  const { faults } = await doctorBy("exec");
  expect(faults).toEqual([
    expect.objectContaining({ about: "API server", remedy: expect.stringContaining(words) }),
  ]);
});

test("a kubeconfig that does not parse is told with its own remedy", async () => {
  await writeFile(join(folder, "broken"), "clusters: 7");
  const { faults } = await doctorBy("broken");
  expect(faults).toEqual([
    expect.objectContaining({ about: "Kubeconfig", remedy: expect.stringContaining("correct it") }),
  ]);
});
