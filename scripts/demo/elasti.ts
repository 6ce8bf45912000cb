import { writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { applyManifest, type ObjectOf } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { ElastiService, OperatorSettings, operator } from "@windlass/elasti";
import { manager } from "@windlass/runtime";
import { CustomResourceDefinition, Deployment, Namespace, Pod, Service } from "@windlass/runtime/kinds";
import { freePorts, waitFor } from "@windlass/testing";
import { type DemoPart, type RunningPart, readSamples, type Stage } from "./stage.ts";

export const elastiDemo: DemoPart = {
  name: "elasti",
  summary: "a server sleeps at zero pods, and a request to its Service wakes it and is answered",
  start,
};

const root = join(import.meta.dirname, "..", "..");
const namespace = "default";
const sample = { namespace, name: "web" };
const resolver = { namespace: "elasti", name: "elasti-operator-resolver" };

/**
 * What stands for the image of the sample: a server that takes a moment to start, as servers do.
 */
const server = `
  const { createServer } = require("node:http");
  setTimeout(() => createServer((_, answer) => answer.end(process.env.HOSTNAME)).listen(8080), 200);
`;

const within = { timeout: "60s" } as const;

/** The demo does not wait for the five minutes of the sample. */
const hurried = { cooldownPeriod: 1 };

async function start(main: Stage): Promise<RunningPart> {
  if (process.platform !== "linux") {
    const why = "the pods of this part are processes, and only Linux has addresses for them without set-up";
    main.say("elasti", `left out on ${process.platform}: ${why}`);
    return { ready: Promise.resolve(), stopped: Promise.resolve() };
  }
  const images = { "*/agnhost:*": { command: [process.execPath, "-e", server] } };
  const plane = await ControlPlane.start({ processes: { images } });
  const stage = main.on(plane);
  const kubeconfig = join(root, ".windlass", "elasti-kubeconfig");
  await plane.listen();
  await writeFile(kubeconfig, await plane.kubeconfig(), { mode: 0o600 });
  stage.say("elasti", `has a control plane whose pods are processes: export KUBECONFIG=${kubeconfig}`);
  const { client, signal } = stage;
  await client.apply(CustomResourceDefinition, ElastiService.crd());
  await client.apply(Namespace, { metadata: { name: resolver.namespace } });
  const [wakePort = 0] = await freePorts(1);
  const running = runOperator(stage, wakePort);
  const shown = [
    stage.follow(ElastiService, describe, { namespace }),
    stage.follow(Pod, describePod, { namespace }),
  ];
  const shows = runResolver(stage, kubeconfig, wakePort).then(() => show(stage));
  const ready = shows.catch((error: unknown) => {
    // Interrupted: what it waited for does not come any more.
    if (!signal.aborted) throw error;
  });
  const stopped = Promise.all([running, ...shown]).then(() => plane.close());
  return { ready, stopped };
}

/** The operator, in this process. */
async function runOperator(stage: Stage, wakePort: number): Promise<void> {
  const client = stage.clientOf("elasti-operator");
  const settings = OperatorSettings.parse({
    POD_NAMESPACE: resolver.namespace,
    ELASTI_OPERATOR_PORT: wakePort,
    POLLING_INTERVAL: 1,
    SETTLE_SECONDS: 1,
  });
  const { controller, everywhere } = operator(settings, client.discovery);
  const running = manager({
    client,
    leaderElection: { name: "elasti-operator", namespace: resolver.namespace },
    health: false,
    metrics: false,
    log: stage.log,
  }).add(controller);
  for (const part of everywhere) running.add(part);
  await running.run({ signal: stage.signal });
}

/** The resolver, in a pod: Services lead to it by its address. */
async function runResolver(stage: Stage, kubeconfig: string, wakePort: number): Promise<void> {
  const { client } = stage;
  const labels = { "app.kubernetes.io/name": resolver.name };
  const container = {
    name: "resolver",
    image: "windlass/elasti:dev",
    command: [process.execPath, join(root, "operators", "elasti", "src", "resolver-main.ts")],
    env: [
      { name: "KUBECONFIG", value: kubeconfig },
      { name: "POD_NAMESPACE", value: resolver.namespace },
      { name: "ELASTI_OPERATOR_URL", value: `http://127.0.0.1:${wakePort}` },
      { name: "DRAIN_SECONDS", value: "1" },
      { name: "LOG_LEVEL", value: "warn" },
      // From sources it takes a moment to start; the next time less.
      { name: "NODE_COMPILE_CACHE", value: join(root, ".windlass", "compile-cache") },
    ],
    readinessProbe: { httpGet: { path: "/readyz", port: 8081 }, periodSeconds: 1 },
  };
  await client.apply(Service, {
    metadata: resolver,
    spec: { selector: labels, ports: [{ name: "internal", port: 8013 }] },
  });
  await client.apply(Deployment, {
    metadata: resolver,
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        // Without a token there are no volumes, which would need rights on this machine.
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 1,
          containers: [container],
        },
      },
    },
  });
  const isReady = ({ status }: ObjectOf<typeof Deployment>) => status?.readyReplicas === 1;
  await waitFor(client, Deployment, resolver, isReady, within);
  stage.say("resolver", "ready: holds requests of services that sleep");
}

/** Has the sample sleep and wake. */
async function show(stage: Stage): Promise<void> {
  const { client } = stage;
  const objects = (await readSamples("elasti")).filter(({ metadata }) => metadata.name === sample.name);
  for (const object of objects) {
    const spec = (object as { readonly spec?: object }).spec;
    await applyManifest(client, {
      ...object,
      metadata: { ...object.metadata, namespace },
      ...(object.kind === "ElastiService" && { spec: { ...spec, ...hurried } }),
    });
  }
  stage.say("sample", `${sample.name}: Deployment, Service and ElastiService applied`);
  await waitFor(client, ElastiService, sample, ({ status }) => status?.phase === "Relaying", within);
  const { spec } = await client.get(Service, sample);
  const url = `http://${spec?.clusterIP}:${spec?.ports?.[0]?.port}/hostname`;
  await ask(stage, url);
  await waitFor(client, ElastiService, sample, ({ status }) => status?.phase === "Asleep", within);
  await ask(stage, url);
  for (const line of await coldStart(stage)) stage.say("cold start", line);
}

async function ask(stage: Stage, url: string): Promise<void> {
  stage.say("request", `GET ${url}`);
  const began = performance.now();
  const answer = await text(url);
  stage.say("request", `answered by ${answer} after ${Math.round(performance.now() - began)} ms`);
}

const phases = {
  notify: "the operator was notified after",
  ready: "a pod was ready after",
  first_byte: "it began to answer after",
};

/** The phases of the wake, from the resolver's own metrics. */
async function coldStart({ client }: Stage): Promise<readonly string[]> {
  const { items } = await client.list(Pod, { namespace: resolver.namespace });
  const metrics = await text(`http://${items[0]?.status?.podIP}:8080/metrics`);
  return Object.entries(phases).flatMap(([phase, words]) => {
    const line = new RegExp(`^elasti_resolver_cold_start_seconds_sum\\{.*phase="${phase}"\\} (.+)$`, "m");
    const [, seconds] = line.exec(metrics) ?? [];
    return seconds === undefined ? [] : [`${words} ${Math.round(Number(seconds) * 1_000)} ms`];
  });
}

/** What a URL answers, over a connection of its own. */
function text(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let body = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        body += chunk;
      });
      answer.once("error", reject);
      answer.once("end", () =>
        answer.statusCode === 200 ? resolve(body) : reject(new Error(`${url}: ${answer.statusCode} ${body}`)),
      );
    }).once("error", reject);
  });
}

function describe({ status }: ObjectOf<typeof ElastiService>): string {
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  return status?.phase === undefined ? "new" : `${status.phase}: ${condition?.message}`;
}

function describePod({ metadata, status }: ObjectOf<typeof Pod>): string {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
  if (metadata.deletionTimestamp !== undefined) return "ends";
  return isReady ? `Ready at ${status?.podIP}` : (status?.phase ?? "Pending");
}
