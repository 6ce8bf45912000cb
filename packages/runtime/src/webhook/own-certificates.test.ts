import { createAuthority } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { CustomResourceDefinition, Secret, ValidatingWebhookConfiguration } from "@windlass/kinds/builtin";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ModelCluster } from "../reconcile/model-cluster.fixture.ts";
import { ModelRun } from "../reconcile/model-run.fixture.ts";
import type { LoggedLine } from "../testing/recording-logger.ts";
import { selfManaged, type WebhookServerOptions } from "./index.ts";
import {
  applyManifests,
  bundlesOf,
  day,
  Gadget,
  gadgets,
  onMachine,
  post,
  readiness,
  secretKey,
  signerOf,
} from "./server.fixture.ts";

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
    onTestFinished(() => run.manager.stop());
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
    onTestFinished(() => run.manager.stop());
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
    onTestFinished(() => again.stop());
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
    onTestFinished(() => run.manager.stop());
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
    onTestFinished(() => run.manager.stop());
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
