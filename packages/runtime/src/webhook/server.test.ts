import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { createAuthority, type KeyPair, splitBundle } from "@windlass/certificates";
import { ManualClock, systemClock } from "@windlass/clock";
import { CustomResourceDefinition, Secret, ValidatingWebhookConfiguration } from "@windlass/kinds/builtin";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { rbacFor } from "../controller/rbac.ts";
import { type Manager, manager } from "../manager/manager.ts";
import { ModelCluster } from "../reconcile/model-cluster.fixture.ts";
import { appController, ModelRun } from "../reconcile/model-run.fixture.ts";
import { defineResource } from "../resource/index.ts";
import type { LoggedLine } from "../testing/recording-logger.ts";
import {
  fromFiles,
  invalid,
  selfManaged,
  type WebhookServer,
  type WebhookServerOptions,
  webhookServer,
} from "./index.ts";

const GadgetV2 = defineResource({
  group: "example.com",
  version: "v2",
  kind: "Gadget",
  spec: z.object({ picture: z.string() }),
});
const Gadget = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  spec: z.object({ image: z.string() }),
}).withVersion(GadgetV2, {
  to: ({ spec }) => ({ spec: { picture: spec.image } }),
  from: ({ spec }) => ({ spec: { image: spec.picture } }),
});

const hour = 3_600_000;
const day = 24 * hour;
const path = "/validate-example-com-v1-gadget";
const secretKey = { namespace: "gadget-system", name: "gadgets-webhook-ca" };

function gadgets(options: Partial<WebhookServerOptions> = {}) {
  return webhookServer({
    name: "gadgets",
    port: 0,
    host: "127.0.0.1",
    service: { namespace: "gadget-system" },
    ...options,
  })
    .validate(Gadget, ({ spec }) =>
      spec.image.includes(":") ? undefined : invalid("spec.image", "must have a tag"),
    )
    .convert(Gadget);
}

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** What manifests put there before the operator comes. */
function applyManifests(cluster: ModelCluster): void {
  const webhooks = gadgets();
  for (const configuration of webhooks.configurations())
    cluster.put(ValidatingWebhookConfiguration, configuration);
  cluster.put(CustomResourceDefinition, Gadget.crd({ conversion: webhooks.conversion() }));
}

const bundlesOf = (cluster: ModelCluster) => {
  const configuration = cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" });
  const crd = cluster.get(CustomResourceDefinition, { name: "gadgets.example.com" });
  const inBase64 = [
    configuration?.webhooks?.[0]?.clientConfig.caBundle,
    crd?.spec.conversion?.webhook?.clientConfig?.caBundle,
  ];
  return inBase64.map((bundle) => splitBundle(Buffer.from(bundle ?? "", "base64").toString()));
};

const signerOf = (cluster: ModelCluster) =>
  Buffer.from(cluster.get(Secret, secretKey)?.data?.["tls.crt"] ?? "", "base64").toString();

interface Exchange {
  readonly status: number;
  readonly body: string;
  readonly peer: DetailedPeerCertificate;
  readonly localPort: number;
  /** Whether the server keeps the connection. */
  readonly connection: string | undefined;
}

/** Posts a review for one object, as the API server would. */
function post(
  port: number | undefined,
  {
    ca,
    agent,
    image = "nginx:1",
    to = path,
  }: { ca?: string; agent?: Agent; image?: string; to?: string } = {},
): Promise<Exchange> {
  const object = Gadget.make({ name: "one", namespace: "default" }, { image });
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "u", operation: "CREATE", object },
  });
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path: to,
        method: "POST",
        headers: { "content-type": "application/json" },
        servername: "gadgets-webhook.gadget-system.svc",
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ...(agent ? { agent } : { agent: false }),
      },
      (response) => {
        const socket = response.socket as TLSSocket;
        const peer = socket.getPeerCertificate(true);
        const localPort = socket.localPort ?? 0;
        response.setEncoding("utf8");
        let text = "";
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        const { connection } = response.headers;
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body: text, peer, localPort, connection }),
        );
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Whether a connection is accepted. */
function listens(port = 0): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function readiness(running: Manager): Promise<string> {
  return (await fetch(`http://127.0.0.1:${running.ports.health}/readyz/webhook`)).text();
}

/** An operator whose clock is the machine's, since TLS uses that. */
async function onMachine(webhooks = gadgets(), cluster = new ModelCluster(systemClock)) {
  const nothing = () => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => log };
  const health = { port: 0, host: "127.0.0.1" };
  const running = manager({ client: cluster.client, cache: cluster.cache, log, health, metrics: false }).add(
    webhooks,
  );
  await running.start();
  stops.push(() => running.stop());
  return { running, cluster, webhooks };
}

describe("self-managed certificates", () => {
  test("are made, put where the API server looks, and served", async () => {
    const cluster = new ModelCluster(systemClock);
    applyManifests(cluster);
    const { running, webhooks } = await onMachine(gadgets(), cluster);
    expect(await readiness(running)).toBe("ok");
    const [inConfiguration = [], inDefinition] = bundlesOf(cluster);
    expect(inConfiguration).toHaveLength(1);
    expect(inDefinition).toEqual(inConfiguration);
    const allowed = await post(webhooks.port, { ca: inConfiguration.join("") });
    expect(JSON.parse(allowed.body)).toMatchObject({ response: { uid: "u", allowed: true } });
    const refused = await post(webhooks.port, { ca: inConfiguration.join(""), image: "nginx" });
    expect(JSON.parse(refused.body)).toMatchObject({ response: { allowed: false, status: { code: 422 } } });
    const configuration = cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" });
    expect(configuration?.webhooks?.[0]?.rules).toEqual(gadgets().configurations()[0]?.webhooks?.[0]?.rules);
  });

  test("of several replicas come from one authority, in any order of their starts", async () => {
    const cluster = new ModelCluster(systemClock);
    applyManifests(cluster);
    const replicas = await Promise.all([1, 2, 3].map(() => onMachine(gadgets(), cluster)));
    const [bundle = []] = bundlesOf(cluster);
    expect(bundle).toHaveLength(1);
    const serials = new Set<string>();
    for (const { webhooks, running } of replicas) {
      const { peer, status } = await post(webhooks.port, { ca: bundle.join("") });
      expect(status).toBe(200);
      serials.add(peer.fingerprint256);
      expect(await readiness(running)).toBe("ok");
    }
    expect(serials.size).toBe(3);
  });

  test("are put into a configuration that comes later, and back into one that lost them", async () => {
    const { cluster } = await onMachine();
    applyManifests(cluster);
    await vi.waitFor(() => expect(bundlesOf(cluster).flat()).toHaveLength(2));
    const before = bundlesOf(cluster);
    applyManifests(cluster);
    await vi.waitFor(() => expect(bundlesOf(cluster)).toEqual(before));
  });

  test("are put only into entries that lead here", async () => {
    const cluster = new ModelCluster(systemClock);
    applyManifests(cluster);
    const [configuration] = gadgets().configurations();
    const [own] = configuration?.webhooks ?? [];
    const other = { ...own, name: "other.example.com", clientConfig: { url: "https://elsewhere" } };
    cluster.put(ValidatingWebhookConfiguration, { ...configuration, webhooks: [own, other] });
    await onMachine(gadgets(), cluster);
    const { webhooks } = cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" }) ?? {};
    expect(webhooks?.[0]?.clientConfig.caBundle).toBeDefined();
    expect(webhooks?.[1]?.clientConfig).toEqual({ url: "https://elsewhere" });
  });

  test("are left out of a definition that converts elsewhere or not at all, and the log says what to do", async () => {
    const run = new ModelRun();
    run.cluster.put(CustomResourceDefinition, Gadget.crd({ conversion: "None" }));
    run.manager.add(gadgets());
    await run.manager.start();
    stops.push(() => run.manager.stop());
    await run.settle();
    expect(run.lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "CustomResourceDefinition gadgets.example.com: its versions are not converted at Service gadget-system/gadgets-webhook: apply what crd({ conversion: webhooks.conversion() }) makes, or set install",
    ]);
    expect(bundlesOf(run.cluster).flat()).toEqual([]);
  });

  test("of another replica are kept, though it puts them there at the same moment", async () => {
    const cluster = new ModelCluster(systemClock);
    applyManifests(cluster);
    const theirs = createAuthority({ commonName: "theirs", validFor: day }).certificate;
    const caBundle = Buffer.from(theirs).toString("base64");
    let isWritten = false;
    cluster.fault = ({ method, path: at }) => {
      if (isWritten || method !== "PATCH" || !at.includes("/validatingwebhookconfigurations/"))
        return undefined;
      isWritten = true;
      const { webhooks = [], ...rest } =
        cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" }) ?? {};
      const [own] = webhooks;
      const clientConfig = { ...own?.clientConfig, caBundle };
      cluster.put(ValidatingWebhookConfiguration, { ...rest, webhooks: [{ ...own, clientConfig }] });
      return undefined;
    };
    await onMachine(gadgets(), cluster);
    await vi.waitFor(() => {
      const [inConfiguration = [], inDefinition = []] = bundlesOf(cluster);
      expect(inDefinition).toHaveLength(1);
      expect(inConfiguration.toSorted()).toEqual([...inDefinition, theirs].toSorted());
    });
  });

  test("settle: nothing is written any more once all is in place", async () => {
    const cluster = new ModelCluster(systemClock);
    applyManifests(cluster);
    await onMachine(gadgets(), cluster);
    await onMachine(gadgets(), cluster);
    cluster.takeWrites();
    applyManifests(cluster);
    await vi.waitFor(() => expect(bundlesOf(cluster).flat()).toHaveLength(2));
    await new Promise((resolve) => setImmediate(resolve));
    const repairs = cluster.takeWrites().filter(({ method }) => method === "PATCH");
    // Both replicas see it; at most each tries once, and the loser's write is refused.
    expect(repairs.length).toBeLessThanOrEqual(4);
    expect(cluster.takeWrites()).toEqual([]);
  });
});

describe("as time goes by", () => {
  const certificates = selfManaged({ authorityLifetime: 9 * day, leafLifetime: day });

  async function onManualClock(options: Partial<WebhookServerOptions> = {}) {
    const run = new ModelRun();
    applyManifests(run.cluster);
    const webhooks = gadgets({ certificates, ...options });
    run.manager.add(webhooks);
    await run.manager.start();
    stops.push(() => run.manager.stop());
    return { run, webhooks };
  }

  test("leaves are renewed, and authorities overlap and go", async () => {
    const { run, webhooks } = await onManualClock();
    const { cluster, clock } = run;
    const first = signerOf(cluster);
    const firstLeaf = (await post(webhooks.port)).peer.fingerprint256;
    await clock.advance(day);
    expect((await post(webhooks.port)).peer.fingerprint256).not.toBe(firstLeaf);
    await clock.advance(5 * day + 1_000);
    const announced = bundlesOf(cluster);
    expect(announced.map((bundle) => bundle.length)).toEqual([2, 2]);
    expect(signerOf(cluster)).toBe(first);
    await clock.advance(5 * 60_000);
    const second = signerOf(cluster);
    expect(announced[0]).toEqual([first, second]);
    expect(cluster.get(Secret, secretKey)?.data).not.toHaveProperty(["next.key"]);
    await clock.advance(3 * day);
    expect(bundlesOf(cluster)).toEqual([[second], [second]]);
    await clock.advance(9 * day);
    expect(bundlesOf(cluster)[0]).not.toContain(second);
    expect(run.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a Secret that was deleted or spoilt comes back as it was", async () => {
    const { run } = await onManualClock();
    const { cluster, clock } = run;
    const before = signerOf(cluster);
    cluster.remove(Secret, secretKey);
    await clock.advance(1_000);
    expect(signerOf(cluster)).toBe(before);
    cluster.put(Secret, { ...cluster.get(Secret, secretKey), data: { "tls.crt": "AAAA" } });
    await clock.advance(1_000);
    expect(signerOf(cluster)).toBe(before);
  });

  test("an authority that expired while no replica ran is replaced", async () => {
    const { run } = await onManualClock();
    const before = signerOf(run.cluster);
    await run.manager.stop();
    await run.clock.advance(10 * day);
    const again = run.another().add(gadgets({ certificates }));
    await again.start();
    stops.push(() => again.stop());
    await run.clock.advance(1_000);
    const after = signerOf(run.cluster);
    expect(after).not.toBe(before);
    expect(bundlesOf(run.cluster)).toEqual([[after], [after]]);
  });

  test("a server that may not read its Secret reports it, is not ready, and recovers", async () => {
    const run = new ModelRun({ health: { port: 0, host: "127.0.0.1" } });
    run.cluster.fault = ({ path: asked }) => (asked.includes("secrets") ? 403 : undefined);
    run.manager.add(gadgets({ certificates }));
    await run.manager.start();
    stops.push(() => run.manager.stop());
    expect(await readiness(run.manager)).toContain("there is no certificate yet: GET /api/v1/namespaces");
    const errors = () => run.lines.filter(({ level }) => level === "error");
    await run.clock.advance(10_000);
    expect(errors().map(({ message }: LoggedLine) => message)).toEqual([
      "the webhook's certificates cannot be maintained; trying again",
    ]);
    run.cluster.fault = undefined;
    await run.clock.advance(60_000);
    expect(await readiness(run.manager)).toBe("ok");
  });

  test("a server whose namespace does not exist reports it, is not ready, and recovers", async () => {
    const run = new ModelRun({ health: { port: 0, host: "127.0.0.1" } });
    const status = {
      kind: "Status",
      code: 404,
      reason: "NotFound",
      message: 'namespaces "gadget-system" not found',
      details: { name: "gadget-system", kind: "namespaces" },
    } as const;
    run.cluster.refusal = ({ method, path: asked }) =>
      method === "POST" && asked.includes("secrets") ? status : undefined;
    run.manager.add(gadgets({ certificates }));
    await run.manager.start();
    stops.push(() => run.manager.stop());
    const why =
      'there is no namespace "gadget-system" to keep Secret gadgets-webhook-ca in: create it, or name the operator\'s own, with POD_NAMESPACE or webhookServer({ service: { namespace } })';
    expect(await readiness(run.manager)).toContain(`there is no certificate yet: ${why}`);
    const told = () => run.lines.filter(({ level }) => level === "error").map(({ fields }) => fields.error);
    await run.clock.advance(30_000);
    expect(told()).toEqual([why]);
    await run.clock.advance(90_000);
    expect(told()).toEqual([why, why]);
    run.cluster.refusal = undefined;
    await run.clock.advance(60_000);
    expect(await readiness(run.manager)).toBe("ok");
  });

  test("what lives longer than its authority is refused", () => {
    expect(() => selfManaged({ authorityLifetime: day, leafLifetime: day })).toThrow("at most a third");
  });
});

describe("the server", () => {
  test("changes its certificate without dropping connections", async () => {
    const certificates = selfManaged({ settle: 0 });
    const { cluster, webhooks, running } = await onMachine(gadgets({ certificates }));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = await post(webhooks.port, { agent });
    const other = createAuthority({ commonName: "other", validFor: 365 * day });
    const secret = cluster.get(Secret, secretKey);
    const encoded = (text: string) => Buffer.from(text).toString("base64");
    cluster.put(Secret, {
      ...secret,
      data: { "tls.crt": encoded(other.certificate), "tls.key": encoded(other.key), "ca.crt": "" },
    });
    await vi.waitFor(async () => {
      const { peer } = await post(webhooks.port, { ca: other.certificate });
      expect(peer.fingerprint256).not.toBe(before.peer.fingerprint256);
    });
    expect((await post(webhooks.port, { agent })).localPort).toBe(before.localPort);
    expect(await readiness(running)).toBe("ok");
    agent.destroy();
  });

  test("is called by the URL that the environment names, and installs itself, whatever its manifests say", async () => {
    vi.stubEnv("WEBHOOK_URL", "https://127.0.0.1:19443");
    vi.stubEnv("WEBHOOK_BIND_ADDRESS", "127.0.0.1:0");
    try {
      const webhooks = webhookServer({ name: "gadgets" }).validate(Gadget, () => undefined);
      // What is generated from the code is the same everywhere.
      expect(webhooks.configurations()[0]?.webhooks?.[0]?.clientConfig).toHaveProperty("service");
      const cluster = new ModelCluster(systemClock);
      const { running } = await onMachine(webhooks, cluster);
      const made = cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" });
      expect(made?.webhooks?.[0]?.clientConfig.url).toBe(`https://127.0.0.1:19443${path}`);
      expect((await post(webhooks.port)).status).toBe(200);
      // No endpoints lead to it: it need not wait for them, though it was found ready.
      await vi.waitFor(async () =>
        expect((await fetch(`http://127.0.0.1:${running.ports.health}/readyz`)).status).toBe(200),
      );
      const began = performance.now();
      await running.stop();
      expect(performance.now() - began).toBeLessThan(5_000);

      vi.stubEnv("WEBHOOK_URL", "http://127.0.0.1");
      const plain = manager({ client: cluster.client, health: false, metrics: false }).add(gadgets());
      await expect(plain.start()).rejects.toThrow('WEBHOOK_URL "http://127.0.0.1" must start with https://');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("is called by the Service that the environment names, with a certificate for it", async () => {
    vi.stubEnv("WEBHOOK_SERVICE", "ada/tunnel:8443");
    try {
      const webhooks = webhookServer({ name: "gadgets", port: 0, host: "127.0.0.1" }).validate(
        Gadget,
        () => undefined,
      );
      const cluster = new ModelCluster(systemClock);
      await onMachine(webhooks, cluster);
      const made = cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" });
      expect(made?.webhooks?.[0]?.clientConfig.service).toEqual({
        namespace: "ada",
        name: "tunnel",
        port: 8443,
        path,
      });
      expect((await post(webhooks.port)).peer.subjectaltname).toContain("DNS:tunnel.ada.svc,");
      vi.stubEnv("WEBHOOK_SERVICE", "tunnel");
      const unnamed = manager({ client: cluster.client, health: false, metrics: false }).add(gadgets());
      await expect(unnamed.start()).rejects.toThrow('WEBHOOK_SERVICE "tunnel" must be like "namespace/name"');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("answers what was asked before it stopped, and takes nothing new", async () => {
    const cluster = new ModelCluster(systemClock);
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<undefined>();
    const webhooks = webhookServer({ name: "gadgets", port: 0, host: "127.0.0.1" }).validate(Gadget, () => {
      arrived.resolve();
      return answer.promise;
    });
    const { running } = await onMachine(webhooks, cluster);
    const agent = new Agent({ keepAlive: true });
    const asked = post(webhooks.port, { agent });
    await arrived.promise;
    const stopping = running.stop();
    await vi.waitFor(async () => expect(await listens(webhooks.port)).toBe(false));
    answer.resolve(undefined);
    expect((await asked).status).toBe(200);
    await stopping;
    agent.destroy();
  });

  test("goes on serving for its delay once the manager is asked to stop, and sends its callers elsewhere", async () => {
    const run = new ModelRun({ health: { port: 0, host: "127.0.0.1" } });
    const webhooks = gadgets({ shutdownDelay: "7s" });
    run.manager.add(webhooks);
    await run.manager.start();
    const ready = await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz`);
    expect(await ready.text()).toBe("ok");
    const agent = new Agent({ keepAlive: true });
    expect((await post(webhooks.port, { agent })).connection).toBe("keep-alive");
    const stopped = run.manager.stop();
    await run.clock.advance(6_999);
    const [kept, fresh] = [await post(webhooks.port, { agent }), await post(webhooks.port)];
    expect([kept.status, kept.connection]).toEqual([200, "close"]);
    expect([fresh.status, fresh.connection]).toEqual([200, "close"]);
    await run.clock.advance(1);
    await stopped;
    await expect(post(webhooks.port)).rejects.toThrow("ECONNREFUSED");
    agent.destroy();
    expect(() => gadgets({ shutdownDelay: -1 })).toThrow(
      "shutdownDelay (-1) must be a number of milliseconds",
    );
  });

  test("answers what was asked last within the manager's time, though reconciles take most of it", async () => {
    const reconciling = Promise.withResolvers<void>();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const run = new ModelRun({ health: { port: 0, host: "127.0.0.1" } });
    const asked = Promise.withResolvers<void>();
    const webhooks = webhookServer({
      name: "gadgets",
      port: 0,
      host: "127.0.0.1",
      service: { namespace: "x" },
    });
    webhooks.validate(Gadget, async () => {
      asked.resolve();
      await answered;
      return undefined;
    });
    const slow = appController({
      reconcile: async (_app, { signal }) => {
        reconciling.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    run.manager.add(webhooks).add(slow);
    await run.manager.start();
    await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz`);
    run.put();
    await run.settle();
    await reconciling.promise;
    const stopped = run.manager.stop();
    await run.clock.advance(9_999);
    const last = post(webhooks.port);
    await asked.promise;
    await run.clock.advance(8_000);
    answer();
    expect((await last).status).toBe(200);
    await vi.waitFor(() => expect(post(webhooks.port)).rejects.toThrow("ECONNREFUSED"));
    await run.clock.advance(6_001);
    await stopped;
    expect(run.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("refuses what is too large or unknown, and goes on", async () => {
    const { webhooks } = await onMachine();
    expect((await post(webhooks.port, { to: "/nowhere" })).status).toBe(404);
    expect((await post(webhooks.port, { image: "x".repeat(8 * 1024 * 1024) })).status).toBe(413);
    expect((await post(webhooks.port)).status).toBe(200);
  });

  test("a server names the option to change when its port is taken", async () => {
    const { webhooks } = await onMachine();
    const port = webhooks.port ?? 0;
    await expect(onMachine(gadgets({ port }))).rejects.toThrow(
      `port ${port} for webhooks is in use; set another with webhookServer({ port })`,
    );
  });

  test("installs its configurations when asked to, and without a socket needs no certificates", async () => {
    const { cluster, running } = await onMachine(gadgets({ install: true, port: false }));
    expect(await readiness(running)).toBe("ok");
    const [generated] = gadgets().configurations();
    expect(cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" })).toMatchObject(generated ?? {});
    expect(cluster.get(Secret, secretKey)).toBeUndefined();
    cluster.remove(ValidatingWebhookConfiguration, { name: "gadgets" });
    await vi.waitFor(() =>
      expect(cluster.get(ValidatingWebhookConfiguration, { name: "gadgets" })).toBeDefined(),
    );
  });

  test("is attached to an API server in the same process for as long as it runs, and then needs no socket", async () => {
    const attached = new Map<string, WebhookServer["handle"]>();
    const webhooks = gadgets({
      install: true,
      attach: ({ namespace, name, port }, handle) => {
        const id = `${namespace}/${name}:${port}`;
        attached.set(id, handle);
        return () => attached.delete(id);
      },
    });
    expect(webhooks.namespaceRules).toEqual([]);
    const { running } = await onMachine(webhooks);
    expect(webhooks.port).toBeUndefined();
    expect([...attached.keys()]).toEqual(["gadget-system/gadgets-webhook:443"]);
    const answer = await attached.get("gadget-system/gadgets-webhook:443")?.({
      path: "/nowhere",
      headers: {},
      body: "",
    });
    expect(answer?.status).toBe(404);
    await running.stop();
    expect(attached.size).toBe(0);
    expect(() => gadgets({ url: "https://127.0.0.1:1", attach: () => () => undefined })).toThrow(
      "leave out attach, or url",
    );
  });

  test("needs rights on its own Secret, configurations and CRDs alone", () => {
    const options = { name: "gadgets", namespace: "gadget-system" };
    const [cluster, own] = rbacFor([gadgets()], options);
    const looks = ["get", "list", "watch"];
    expect(cluster).toMatchObject({
      kind: "ClusterRole",
      metadata: { name: "gadgets-webhook" },
      rules: [
        {
          apiGroups: ["admissionregistration.k8s.io"],
          resources: ["validatingwebhookconfigurations"],
          verbs: [...looks, "patch"],
          resourceNames: ["gadgets"],
        },
        {
          apiGroups: ["apiextensions.k8s.io"],
          resources: ["customresourcedefinitions"],
          verbs: [...looks, "patch"],
          resourceNames: ["gadgets.example.com"],
        },
      ],
    });
    expect(own).toMatchObject({
      kind: "Role",
      metadata: { name: "gadgets-webhook", namespace: "gadget-system" },
      rules: [
        { resources: ["secrets"], verbs: ["create"] },
        { resources: ["secrets"], verbs: [...looks, "update"], resourceNames: ["gadgets-webhook-ca"] },
      ],
    });
    expect(rbacFor([gadgets({ certificates: fromFiles() })], options)).toEqual([]);
    expect(() => rbacFor([gadgets()], { name: "gadgets" })).toThrow("say which, with namespace");
  });
});

describe("certificates from files", () => {
  const authority = createAuthority({ commonName: "files", validFor: day });
  const issue = (validFor = hour): KeyPair =>
    authority.issue({
      commonName: "gadgets",
      dnsNames: ["gadgets-webhook.gadget-system.svc"],
      usages: ["server"],
      validFor,
    });

  async function directory(
    pair?: Partial<KeyPair>,
  ): Promise<{ at: string; write(pair: Partial<KeyPair>): Promise<void> }> {
    const at = await mkdtemp(join(tmpdir(), "webhook-"));
    stops.push(() => rm(at, { recursive: true }));
    const write = async ({ certificate, key }: Partial<KeyPair>) => {
      if (certificate !== undefined) await writeFile(join(at, "tls.crt"), certificate);
      if (key !== undefined) await writeFile(join(at, "tls.key"), key);
    };
    if (pair) await write(pair);
    return { at, write };
  }

  test("are served, and again when they change", async () => {
    const files = await directory(issue());
    const { webhooks, running } = await onMachine(gadgets({ certificates: fromFiles(files.at) }));
    const first = await post(webhooks.port, { ca: authority.certificate });
    expect(await readiness(running)).toBe("ok");
    await files.write(issue());
    await vi.waitFor(async () => {
      const { peer } = await post(webhooks.port, { ca: authority.certificate });
      expect(peer.fingerprint256).not.toBe(first.peer.fingerprint256);
    });
    expect(running.registry.render()).toMatch(/certwatcher_read_certificate_total [2-9]/);
  });

  test("certificate files are read every ten seconds, and unusable ones leave the ones before", async () => {
    const clock = new ManualClock(Date.now());
    const files = await directory(issue(30 * day));
    const lines: string[] = [];
    const note = (_fields: unknown, message?: string) => void lines.push(message ?? "");
    const log = { debug: () => undefined, info: () => undefined, warn: note, error: note, child: () => log };
    const { cache, client } = new ModelCluster(clock);
    const running = manager({
      client,
      cache,
      clock,
      log,
      health: { port: 0, host: "127.0.0.1" },
      metrics: false,
    });
    const webhooks = gadgets({ certificates: fromFiles(files.at) });
    await running.add(webhooks).start();
    stops.push(() => running.stop());
    const served = async () => (await post(webhooks.port)).peer.fingerprint256;
    const first = await served();
    await files.write({ key: issue().key });
    await vi.waitFor(async () => {
      await clock.advance(10_000);
      expect(lines).toEqual([
        `the certificate in ${files.at} cannot be used: tls.key is not the key of tls.crt; the one before stays in use`,
      ]);
    });
    expect(await served()).toBe(first);
    expect(await readiness(running)).toBe("ok");
    expect(running.registry.render()).not.toContain("certwatcher_read_certificate_errors_total 0");
    await clock.advance(25 * hour);
    expect(await readiness(running)).toContain("expired at");
  });

  test("that are missing or expired keep the server from being ready", async () => {
    const missing = await onMachine(gadgets({ certificates: fromFiles("/nowhere/at/all") }));
    expect(await readiness(missing.running)).toContain("cannot be used: ENOENT");
    const files = await directory({ certificate: "not a certificate", key: "not a key" });
    const broken = await onMachine(gadgets({ certificates: fromFiles(files.at) }));
    expect(await readiness(broken.running)).toContain("not an X.509 certificate");
    await files.write(issue());
    await vi.waitFor(async () => expect(await readiness(broken.running)).toBe("ok"));
  });
});
