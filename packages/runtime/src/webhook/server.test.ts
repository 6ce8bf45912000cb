import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, type KeyPair } from "@windlass/certificates";
import { ManualClock, systemClock } from "@windlass/clock";
import { Secret, ValidatingWebhookConfiguration } from "@windlass/kinds/builtin";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { rbacFor } from "../controller/rbac.ts";
import { manager } from "../manager/manager.ts";
import { ModelCluster } from "../reconcile/model-cluster.fixture.ts";
import { appController, ModelRun } from "../reconcile/model-run.fixture.ts";
import { fromFiles, selfManaged, type WebhookServer, webhookServer } from "./index.ts";
import {
  day,
  Gadget,
  gadgets,
  hour,
  listens,
  onMachine,
  path,
  post,
  readiness,
  secretKey,
} from "./server.fixture.ts";

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
    onTestFinished(() => rm(at, { recursive: true }));
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
    onTestFinished(() => running.stop());
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
