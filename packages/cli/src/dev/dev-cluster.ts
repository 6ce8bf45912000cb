import { createHash } from "node:crypto";
import { homedir, hostname } from "node:os";
import { delimiter, join, relative, resolve } from "node:path";
import { Client, type ClusterAccess, connect, findAccess, openTransport } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import type { Terminal } from "../terminal.ts";
import { writeWhole } from "../whole-file.ts";
import { freePort } from "./free-port.ts";

import type { CalledAt } from "./webhooks-before.ts";

/** A cluster that an operator is developed on. */
export interface DevCluster extends AsyncDisposable {
  readonly client: Client;
  /** Where objects go that name no namespace. */
  readonly namespace: string;
  /** What the operator's process has to know of it, and of where to serve. */
  readonly env: Readonly<Record<string, string>>;
  /** Where the operator says whether it is ready, unless it has its own mind about that. */
  readonly readyUrl: string;
  /** Where the operator serves its metrics, unless it has its own mind about that. */
  readonly metricsUrl: string;
  /** Where the cluster calls the operator's webhooks; undefined if it does not. */
  readonly calledAt?: CalledAt;
  /**
   * The address of an API server that was there before, and stays: there, what is changed for a
   * time has to be put back.
   */
  readonly server?: string;
}

const fieldManager = "windlass-dev";

/** An API server in this process, that goes when it is disposed. */
export async function embeddedCluster(
  { folder }: Pick<Terminal, "folder">,
  port: number | undefined,
  say: Say,
): Promise<DevCluster> {
  await using stack = new AsyncDisposableStack();
  const plane = stack.use(await ControlPlane.start());
  say("control plane", `up at ${await plane.listen(port === undefined ? {} : { port })}`);
  const kubeconfig = await writePrivate(folder, "kubeconfig", await plane.kubeconfig());
  say("control plane", `export KUBECONFIG=${relative(folder, kubeconfig)}   for kubectl`);
  const client = stack.use(new Client({ transport: plane.connect(), fieldManager }));
  const webhookPort = await freePort();
  const probes = await probeAddresses();
  const kept = stack.move();
  const webhookUrl = `https://127.0.0.1:${webhookPort}`;
  return {
    client,
    namespace: "default",
    readyUrl: probes.readyUrl,
    metricsUrl: probes.metricsUrl,
    calledAt: { url: webhookUrl },
    env: {
      ...probes.env,
      KUBECONFIG: kubeconfig,
      WEBHOOK_URL: webhookUrl,
      WEBHOOK_BIND_ADDRESS: `127.0.0.1:${webhookPort}`,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** What to do with a cluster that is there already. */
export interface CurrentClusterOptions {
  readonly context?: string;
  /**
   * The operator's own namespace: of its Lease, and of its webhooks' Secret.
   *
   * @default the kubeconfig's
   */
  readonly namespace?: string;
  /** How its API server calls webhooks. @default it does not */
  readonly webhooks?: { readonly host: string } | { readonly tunnelImage: string };
}

/** The cluster that kubectl uses. */
export async function currentCluster(
  { env, folder, signal }: Pick<Terminal, "env" | "folder" | "signal">,
  { context, namespace, webhooks }: CurrentClusterOptions,
  say: Say,
): Promise<DevCluster> {
  const where = { env, ...(context === undefined ? {} : { context }) };
  const access = await findAccess(where);
  await using stack = new AsyncDisposableStack();
  const client = stack.use(await connect({ ...where, access, fieldManager }));
  say("cluster", `${access.cluster.server}, by ${access.source}`);
  const probes = await probeAddresses();
  const place = namespace ?? access.namespace;
  const called =
    webhooks === undefined
      ? undefined
      : "host" in webhooks
        ? await calledByUrl(webhooks.host)
        : await calledThroughTunnel(
            { client, access, env, folder, signal, namespace: place, image: webhooks.tunnelImage },
            stack,
            say,
          );
  if (called !== undefined) say("cluster", `calls webhooks ${called.words}`);
  const kept = stack.move();
  return {
    client,
    namespace: access.namespace,
    readyUrl: probes.readyUrl,
    metricsUrl: probes.metricsUrl,
    ...(called === undefined ? {} : { calledAt: called.calledAt }),
    server: access.cluster.server,
    env: {
      ...probes.env,
      ...called?.env,
      ...(namespace === undefined ? {} : { POD_NAMESPACE: namespace }),
      ...(context === undefined ? {} : { KUBECONFIG: await withContext(env, folder, context) }),
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** How webhooks are called, for the record, for the operator's process and in words. */
interface Called {
  readonly calledAt: CalledAt;
  readonly env: Readonly<Record<string, string>>;
  readonly words: string;
}

async function calledByUrl(host: string): Promise<Called> {
  const port = await freePort(host);
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `https://${name}:${port}`;
  return {
    calledAt: { url },
    env: { WEBHOOK_URL: url, WEBHOOK_BIND_ADDRESS: `${name}:${port}` },
    words: `at ${url}`,
  };
}

interface TunnelPlace {
  readonly client: Client;
  readonly access: ClusterAccess;
  readonly env: Terminal["env"];
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly image: string;
}

async function calledThroughTunnel(
  { client, access, env, folder, signal, namespace, image }: TunnelPlace,
  stack: AsyncDisposableStack,
  say: Say,
): Promise<Called> {
  const { openTunnel } = await import("./tunnel/tunnel.ts");
  const port = await freePort();
  // The same each time, so that one that was left behind is found.
  const id = createHash("sha256").update(`${hostname()} ${folder}`).digest("hex").slice(0, 8);
  const transport = openTransport(access, { attempts: 1, env });
  stack.defer(() => transport.close());
  const name = `windlass-dev-${id}`;
  const words = (text: string) => say("tunnel", text);
  const { service } = stack.use(
    await openTunnel({ client, transport, namespace, name, image, port, signal, say: words }),
  );
  return {
    calledAt: { service },
    env: {
      WEBHOOK_SERVICE: `${service.namespace}/${service.name}:${service.port}`,
      WEBHOOK_BIND_ADDRESS: `127.0.0.1:${port}`,
    },
    words: `through pod ${service.namespace}/${service.name}`,
  };
}

/** Whatever else runs on this machine, there are ports for probes and metrics. */
async function probeAddresses() {
  const [probes, metrics] = await Promise.all([freePort(), freePort()]);
  return {
    readyUrl: `http://127.0.0.1:${probes}/readyz`,
    metricsUrl: `http://127.0.0.1:${metrics}/metrics`,
    env: {
      HEALTH_PROBE_BIND_ADDRESS: `127.0.0.1:${probes}`,
      METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}`,
    },
  };
}

/**
 * A kubeconfig that says which context is the current one, before those that say everything else:
 * the first to say something is right.
 */
async function withContext(env: Terminal["env"], folder: string, context: string): Promise<string> {
  const choice = { apiVersion: "v1", kind: "Config", "current-context": context };
  const file = await writePrivate(folder, "context", JSON.stringify(choice));
  return [file, env.KUBECONFIG || join(env.HOME ?? homedir(), ".kube", "config")].join(delimiter);
}

async function writePrivate(folder: string, name: string, text: string): Promise<string> {
  const file = resolve(folder, ".windlass", name);
  await writeWhole(file, text, { mode: 0o600 });
  return file;
}

/** Tells the user that something happened. */
export type Say = (what: string, words: string) => void;
