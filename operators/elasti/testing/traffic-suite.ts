import type { Client, NamespacedKey } from "@windlass/client";
import { type ContainerInput, Deployment, Service } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ElastiService } from "../src/service/elasti-service.ts";
import { sleepAnnotation } from "../src/service/names.ts";
import { type Load, startLoad, untilAnswered } from "./load.ts";

/** A cluster with pods that run, Services that lead to them, an operator and a resolver. */
export interface TrafficEnvironment extends AsyncDisposable {
  readonly client: Client;
  /** Where targets are made. */
  readonly namespace: string;
  /** An HTTP server on port 8080 that answers every path with 200. */
  readonly container: ContainerInput;
  readonly cycles: number;
  readonly perSecond: number;
  /** Keeps what a test that held has shown. @default it is not kept */
  readonly record?: (test: string, shown: Readonly<Record<string, number>>) => Promise<void>;
}

const wait = { timeout: 90_000 };
/** Namespaces with pods in them take their time to go. */
const hookMs = 300_000;

/** Makes a target of one pod with its Service, and waits until it is ready. */
export async function createTarget(
  { client, namespace, container }: Pick<TrafficEnvironment, "client" | "namespace" | "container">,
  name: string,
  elasti: object = {},
): Promise<NamespacedKey> {
  const key = { namespace, name };
  const labels = { app: name };
  const template = {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 30, containers: [container] },
  };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await client.create(Deployment, { metadata: key, spec });
  const ports = [{ name: "http", port: 8000, targetPort: 8080 }];
  await client.create(Service, { metadata: key, spec: { selector: labels, ports } });
  await waitFor(client, Deployment, key, ({ status }) => status?.readyReplicas === 1, wait);
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  await client.create(ElastiService, { metadata: key, spec: { scaleTargetRef, service: name, ...elasti } });
  return key;
}

/** Waits for a phase of a service. */
export function phase(client: Client, key: NamespacedKey, wanted: string) {
  return waitFor(client, ElastiService, key, ({ status }) => status?.phase === wanted, wait);
}

/** Asks for a sleep, whatever the triggers say. */
export async function sendToSleep(client: Client, key: NamespacedKey): Promise<void> {
  const patch = { metadata: { annotations: { [sleepAnnotation]: "now" } } };
  await client.patch(ElastiService, key, { type: "merge", patch });
}

/** Where clients of a target's Service connect to. */
export async function urlOf(client: Client, key: NamespacedKey, path = "/hostname"): Promise<string> {
  const { spec } = await client.get(Service, key);
  return `http://${spec?.clusterIP}:8000${path}`;
}

/** What holds under traffic, wherever pods run for real. */
export function trafficSuite(start: () => Promise<TrafficEnvironment>): () => TrafficEnvironment {
  let environment: TrafficEnvironment;
  beforeAll(async () => {
    environment = await start();
  }, hookMs);
  afterAll(() => environment[Symbol.asyncDispose](), hookMs);

  /** Sleeps and wakes under load so many times, and reports as it goes. */
  async function cycle(key: NamespacedKey, load: Load, cycles: number, rest: string): Promise<void> {
    const { client } = environment;
    const began = performance.now();
    for (let done = 1; done <= cycles; done++) {
      const waking = phase(client, key, "Waking");
      await sendToSleep(client, key);
      await waking;
      await phase(client, key, rest);
      const { sent, failures } = load.result;
      if (done % 5 === 0 || failures.length > 0)
        process.stdout.write(
          `${key.name}: ${done} cycles in ${Math.round((performance.now() - began) / 1_000)} s, ${sent} sent, ${failures.length} failed\n`,
        );
    }
    const { sent, ok, failures } = await load.stop();
    process.stdout.write(`${key.name}, ${cycles} cycles: ${sent} sent, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
    expect(ok).toBe(sent);
    const minutes = Math.round((performance.now() - began) / 6_000) / 10;
    await environment.record?.(`sleeps and wakes of ${key.name}`, {
      cycles,
      requests: sent,
      lost: 0,
      minutes,
    });
  }

  test("no request is lost over sleeps under traffic, and the wakes that it brings", {
    timeout: 3_600_000,
  }, async () => {
    const { client, cycles, perSecond } = environment;
    const key = await createTarget(environment, "web");
    await phase(client, key, "Serving");
    const url = await urlOf(client, key);
    await untilAnswered(url);
    await cycle(key, startLoad(url, perSecond), cycles, "Serving");
  });

  test("a service that rests behind the resolver loses nothing on connections of any age", {
    timeout: 3_600_000,
  }, async () => {
    const { client, cycles, perSecond } = environment;
    // A traffic trigger keeps the resolver in the path, so no client ever has a connection to a
    // pod.
    const key = await createTarget(environment, "behind", { triggers: [{ type: "traffic" }] });
    await phase(client, key, "Relaying");
    const url = await urlOf(client, key);
    await untilAnswered(url);
    const load = startLoad(url, perSecond, { connectionMs: Number.POSITIVE_INFINITY });
    // What differs from the others is behind it after a few.
    await cycle(key, load, Math.min(cycles, 10), "Relaying");
  });

  return () => environment;
}
