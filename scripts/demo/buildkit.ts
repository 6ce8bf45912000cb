import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  allocationApi,
  apiTrustName,
  BuildKitOIDCConfig,
  BuildKitPool,
  BuildKitRequest,
  BuildKitWorker,
  controllers,
} from "@windlass/buildkit";
import { windlassBuildkit } from "@windlass/buildkit/cli";
import { runProgram, type Terminal } from "@windlass/cli";
import { applyManifest, type Client, type ObjectOf } from "@windlass/client";
import { manager } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Namespace, ServiceAccount } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { type DemoPart, type RunningPart, readSamples, type Stage } from "./stage.ts";

export const buildkitDemo: DemoPart = {
  name: "buildkit",
  summary: "pools of BuildKit workers: a client is given one, keeps it for longer, gives it back",
  start,
};

const operatorNamespace = "buildkit-system";
const namespace = "builds";
const kinds = [BuildKitPool, BuildKitWorker, BuildKitRequest, BuildKitOIDCConfig];

async function start(stage: Stage): Promise<RunningPart> {
  const { client, signal } = stage;
  await Promise.all(kinds.map((kind) => client.apply(CustomResourceDefinition, kind.crd())));
  stage.say("crd", `${kinds.map(({ plural }) => plural).join(", ")} installed`);
  for (const name of [operatorNamespace, namespace]) await client.create(Namespace, { metadata: { name } });
  const operator = await startOperator(stage);

  const shown = [
    stage.follow(BuildKitPool, describePool, { namespace }),
    stage.follow(BuildKitWorker, describeWorker, { namespace }),
  ];
  const samples = (await readSamples("buildkit")).filter(({ kind }) => kind === BuildKitPool.kind);
  for (const sample of samples) {
    await applyManifest(client, { ...sample, metadata: { ...sample.metadata, namespace } });
    stage.say("sample", `buildkitpool/${sample.metadata.name} applied`);
  }
  const pools = samples.map(({ metadata }) => metadata.name);
  const ready = Promise.all(pools.map((pool) => untilReady(client, pool))).then(async () => {
    const [first = ""] = pools.toReversed();
    if (!signal.aborted) await build(stage, first, await operator.port);
  });
  // An interrupt of the demo does not wait for it, and prints no error of it.
  ready.catch(() => undefined);
  return {
    ready: ready.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
    stopped: Promise.all([operator.stopped, ...shown]).then(() => undefined),
  };
}

/**
 * The operator and its API in one manager. Workers are simulated, so they are not asked about their
 * builds.
 */
async function startOperator(stage: Stage) {
  const client = stage.clientOf("buildkit-controller");
  const listening = Promise.withResolvers<number>();
  const parts = controllers({
    namespace: operatorNamespace,
    gatewayImage: "windlass/buildkit:dev",
    probe: { builds: async () => ({ is: "known", count: 0 }), prune: async () => true },
  });
  const running = manager({
    client,
    leaderElection: { name: "buildkit-controller.smrt-devops.net", namespace: operatorNamespace },
    health: false,
    metrics: false,
    log: stage.log,
  });
  for (const part of parts) running.add(part);
  const api = allocationApi({
    client,
    namespace: operatorNamespace,
    port: 0,
    host: "127.0.0.1",
    acceptFor: 0,
    onListening: listening.resolve,
  });
  return { port: listening.promise, stopped: running.add(api).run({ signal: stage.signal }) };
}

/**
 * What a pipeline does: the command with a ServiceAccount's token, which it would find mounted in
 * its pod.
 */
async function build(stage: Stage, pool: string, port: number): Promise<void> {
  const { client, signal } = stage;
  const folder = await mkdtemp(join(tmpdir(), "windlass-demo-"));
  try {
    const [ca, token] = [join(folder, "ca.crt"), join(folder, "token")];
    await writeFile(ca, await trusted(client));
    await writeFile(token, await tokenOf(client, "pipeline"), { mode: 0o600 });
    const env = {
      BKCTL_ENDPOINT: `https://localhost:${port}`,
      BKCTL_TLS_CA_CERT: ca,
      BUILDKIT_TOKEN_FILE: token,
      BKCTL_POOL: pool,
      BKCTL_NAMESPACE: namespace,
    };
    const tlsdir = join(folder, "tls");
    const commands = [
      ["allocate", "--project", "acme/shop", "--ttl", "30m"],
      ["renew", "--ttl", "2h"],
      ["release"],
    ];
    for (const [name = "", ...args] of commands) {
      stage.say("client", `$ windlass-buildkit ${[name, ...args].join(" ")} --tlsdir tls`);
      const terminal = terminalOf(stage, env, folder, signal);
      const code = await runProgram(windlassBuildkit, [name, ...args, "--tlsdir", tlsdir], terminal);
      if (code !== 0) throw new Error(`windlass-buildkit ${name} ended with ${code}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Says what a command says, line by line, with the folder by its short name. */
function terminalOf(stage: Stage, env: Terminal["env"], folder: string, signal: AbortSignal): Terminal {
  const output = {
    write: (text: string) => {
      for (const line of text.replaceAll(`${folder}/`, "").split("\n"))
        if (line !== "") stage.say("client", `  ${line}`);
    },
  };
  return { stdout: output, stderr: output, stdin: Readable.from([]), env, folder, signal };
}

async function untilReady(client: Client, name: string): Promise<void> {
  const isReady = ({ status }: ObjectOf<typeof BuildKitPool>) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
  await waitFor(client, BuildKitPool, { namespace, name }, isReady, { timeout: 60_000 });
}

async function trusted(client: Client): Promise<string> {
  const key = { namespace: operatorNamespace, name: apiTrustName };
  return await waitFor(client, ConfigMap, key, ({ data }) => data?.["ca.crt"], { timeout: 60_000 });
}

async function tokenOf(client: Client, account: string): Promise<string> {
  await client.create(ServiceAccount, { metadata: { namespace, name: account } });
  const made = (await client.json({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: ["buildkit-controller"] },
    },
  })) as { readonly status: { readonly token: string } };
  return made.status.token;
}

function describePool({ status }: ObjectOf<typeof BuildKitPool>): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined) return "new";
  const { total = 0, idle = 0, allocated = 0 } = status?.workers ?? {};
  const workers = `${total} workers, ${idle} idle, ${allocated} allocated`;
  return ready.status === "True"
    ? `${status?.phase}, ${workers}, at ${status?.endpoint}`
    : `${status?.phase}: ${ready.message}`;
}

function describeWorker({ status, spec }: ObjectOf<typeof BuildKitWorker>): string {
  const { allocation } = spec;
  const until = allocation ? ` to ${allocation.requestedBy} until ${allocation.expiresAt}` : "";
  return `${status?.phase ?? "Pending"}${until}`;
}
