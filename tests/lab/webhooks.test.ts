import { once } from "node:events";
import type { Socket } from "node:net";
import { applyManifest, type Client, isForbidden, isInternalError, isInvalid } from "@windlass/client";
import {
  defineResource,
  deny,
  invalid,
  type Logger,
  manager,
  rbacFor,
  selfManaged,
  type WebhookServer,
  webhookServer,
} from "@windlass/runtime";
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";

/** Where the lab's API server reaches this machine. */
const host = process.env.WINDLASS_LAB_HOST ?? "198.18.254.1";
const name = "windlass-lab-webhooks";
const group = "webhooks.lab.windlass.dev";

const GadgetV2 = defineResource({
  group,
  version: "v2",
  kind: "Gadget",
  spec: z.object({ container: z.object({ image: z.string() }), replicas: z.int().default(1) }),
});
const Gadget = defineResource({
  group,
  version: "v1",
  kind: "Gadget",
  spec: z.object({ image: z.string(), replicas: z.int().default(1), team: z.string().optional() }),
}).withVersion(GadgetV2, {
  to: ({ spec, metadata }) => ({
    spec: { container: { image: spec.image }, replicas: spec.replicas },
    ...(spec.team === undefined
      ? {}
      : { metadata: { annotations: { ...metadata.annotations, [`${group}/team`]: spec.team } } }),
  }),
  from: ({ spec, metadata }) => {
    if (spec.container.image === "unconvertible") throw new Error("spec.container.image is of another world");
    const { [`${group}/team`]: team, ...annotations } = metadata.annotations ?? {};
    return {
      spec: { image: spec.container.image, replicas: spec.replicas, ...(team === undefined ? {} : { team }) },
      metadata: { annotations },
    };
  },
});

const nothing = () => undefined;
const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => quiet };
const seen: { dryRun: boolean; operation: string; user: string }[] = [];

/** Authorities that live for 45 s, so that a test sees several rotations. */
const certificates = selfManaged({ authorityLifetime: 45_000, leafLifetime: 15_000, settle: 3_000 });

function server(port: number, url: string, install: boolean): WebhookServer {
  return webhookServer({
    name,
    url,
    port,
    host,
    certificates,
    install,
    service: { namespace: ownNamespace },
  })
    .default(Gadget, (gadget) => ({
      ...gadget,
      metadata: { ...gadget.metadata, labels: { "example.com/checked": "yes", ...gadget.metadata.labels } },
    }))
    .validate(
      Gadget,
      async ({ spec }, { operation, dryRun, user, old, warn }) => {
        seen.push({ operation, dryRun, user: user.username });
        if (operation === "DELETE")
          return spec.team === "kept" ? deny("the team's gadgets are kept") : undefined;
        if (spec.image.endsWith(":latest")) warn("spec.image: latest is whatever it is today");
        if (spec.image === "explode") throw new Error("the fuse was lit");
        if (old && old.spec.replicas > spec.replicas + 5)
          return invalid("spec.replicas", "may not fall by more than 5");
        return [
          ...(spec.image.includes(":") ? [] : [invalid("spec.image", "must have a tag, such as nginx:1.29")]),
          ...(spec.replicas > 9 ? [invalid("spec.replicas", "must be 9 or less")] : []),
        ];
      },
      { operations: ["CREATE", "UPDATE", "DELETE"] },
    )
    .convert(Gadget);
}

let cluster: TestCluster;
let namespace: string;
let ownNamespace: string;
let client: Client;
const stops: (() => Promise<void>)[] = [];
const warnings: string[] = [];

/** A replica of the operator on this machine. */
async function replica(port: number, url: string, { install }: { install: boolean }) {
  const webhooks = server(port, url, install);
  // It may do what its own role says, and nothing else.
  const operator = await cluster.clientFor(ownNamespace, name);
  const account = { name, namespace: ownNamespace };
  for (const role of rbacFor([webhooks], { name, serviceAccount: account }))
    await applyManifest(cluster.client, role, { force: true });
  const health = { port: 0, host: "127.0.0.1" };
  const running = manager({ client: operator, health, metrics: health, log: quiet }).add(webhooks);
  await running.start();
  stops.push(() => running.stop());
  const get = async (where: number | undefined, path: string) =>
    (await fetch(`http://127.0.0.1:${where}${path}`)).text();
  return {
    running,
    ready: () => get(running.ports.health, "/readyz/webhook"),
    metrics: () => get(running.ports.metrics, "/metrics"),
  };
}

const eventually = (look: () => Promise<unknown>, value: unknown) =>
  vi.waitFor(async () => expect(await look()).toBe(value), { timeout: 20_000, interval: 300 });

let first: Awaited<ReturnType<typeof replica>>;

beforeAll(async () => {
  cluster = await startCluster();
  expect(cluster.flavour).toBe("cluster");
  const { Client: Connected } = await import("@windlass/client");
  client = new Connected({
    transport: cluster.transport(),
    fieldManager: "webhooks-lab",
    onWarning: (text) => void warnings.push(String(text)),
  });
  ownNamespace = await cluster.createNamespace("webhooks-own");
  namespace = await cluster.createNamespace("webhooks");
  const url = `https://${host}:19443`;
  await cluster.install(Gadget.crd({ conversion: { url: `${url}/convert` } }));
  // Manifests bring the configurations, and the server puts the bundle in.
  for (const one of server(0, url, false).configurations()) await applyManifest(cluster.client, one);
  first = await replica(19443, url, { install: false });
  await eventually(first.ready, "ok");
  // The API server uses a new configuration about a second later.
  await eventually(() => labelled("probe"), "yes");
});

afterAll(async () => {
  // Objects go while they can be converted, and configurations once no manager is left to recreate
  // them.
  for (const { metadata } of (await cluster.client.list(Gadget, { namespace })).items)
    await cluster.client.delete(Gadget, { namespace, name: metadata.name });
  for (const stop of stops) await stop();
  await cluster.client.delete(ValidatingWebhookConfiguration, { name }).catch(nothing);
  await cluster.client.delete(MutatingWebhookConfiguration, { name }).catch(nothing);
  await cluster.client.delete(ClusterRole, { name: `${name}-webhook` }).catch(nothing);
  await cluster.client.delete(ClusterRoleBinding, { name: `${name}-webhook` }).catch(nothing);
  await cluster.close();
});

async function labelled(prefix: string): Promise<string | undefined> {
  const made = await create(`${prefix}-${Math.random().toString(36).slice(2, 8)}`, { image: "nginx:1" });
  return made.metadata.labels?.["example.com/checked"];
}

function create(gadget: string, spec: { image: string; replicas?: number; team?: string }, dryRun = false) {
  return client.create(Gadget, { metadata: { namespace, name: gadget }, spec }, { dryRun });
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("it should have been refused"),
    (error: unknown) => error as Error & { causes?: readonly unknown[] },
  );

test("a field is refused with its path, as a schema's would be", async () => {
  const error = await failureOf(create("untagged", { image: "nginx", replicas: 12 }));
  expect(isInvalid(error)).toBe(true);
  expect(error.message).toContain(
    `admission webhook "validate.gadgets.${group}" denied the request: Gadget.${group} "untagged" is invalid`,
  );
  expect(error.causes).toEqual([
    { reason: "FieldValueInvalid", message: "must have a tag, such as nginx:1.29", field: "spec.image" },
    { reason: "FieldValueInvalid", message: "must be 9 or less", field: "spec.replicas" },
  ]);
});

test("an object is completed, a warning is seen, and a dry run is recognized", async () => {
  warnings.length = 0;
  seen.length = 0;
  const dry = await create("warned", { image: "nginx:latest" }, true);
  expect(dry.metadata.labels).toEqual({ "example.com/checked": "yes" });
  expect(warnings).toEqual(["spec.image: latest is whatever it is today"]);
  expect(seen).toMatchObject([{ operation: "CREATE", dryRun: true }]);
  expect(seen[0]?.user).not.toBe("");
});

test("updates are seen with the object as it was, and deletes with the one that goes", async () => {
  await create("kept", { image: "nginx:1", replicas: 8, team: "kept" });
  const key = { namespace, name: "kept" };
  const fall = client.patch(Gadget, key, { type: "merge", patch: { spec: { replicas: 1 } } });
  expect((await failureOf(fall)).message).toContain("spec.replicas: may not fall by more than 5");
  const gone = await failureOf(client.delete(Gadget, key));
  expect(isForbidden(gone)).toBe(true);
  expect(gone.message).toContain("denied the request: the team's gadgets are kept");
  await client.patch(Gadget, key, { type: "merge", patch: { spec: { team: "other" } } });
  await client.delete(Gadget, key);
});

test("an exception in a handler is an error that says so, and is counted", async () => {
  const error = await failureOf(create("explosive", { image: "explode" }));
  expect(isInternalError(error)).toBe(true);
  expect(error.message).toContain("the validate webhook of Gadget failed: the fuse was lit");
  expect(await first.metrics()).toContain("controller_runtime_webhook_panics_total 1");
});

test("objects are converted to and fro, one by one and in lists", async () => {
  await client.create(GadgetV2, {
    metadata: { namespace, name: "two" },
    spec: { container: { image: "nginx:2" } },
  });
  await create("one", { image: "nginx:1", team: "blue" });
  expect((await client.get(Gadget, { namespace, name: "two" })).spec).toEqual({
    image: "nginx:2",
    replicas: 1,
  });
  const one = await client.get(GadgetV2, { namespace, name: "one" });
  expect(one.spec).toEqual({ container: { image: "nginx:1" }, replicas: 1 });
  expect(one.metadata.annotations).toEqual({ [`${group}/team`]: "blue" });
  // The mutating and validating webhooks are of v1, and are asked about v2 as well.
  expect(one.metadata.labels).toEqual({ "example.com/checked": "yes" });
  await client.update(GadgetV2, { ...one, spec: { container: { image: "nginx:3" } } });
  expect((await client.get(Gadget, { namespace, name: "one" })).spec).toEqual({
    image: "nginx:3",
    replicas: 1,
    team: "blue",
  });
  const untagged = client.patch(
    GadgetV2,
    { namespace, name: "one" },
    {
      type: "merge",
      patch: { spec: { container: { image: "nginx" } } },
    },
  );
  expect((await failureOf(untagged)).message).toContain("spec.image: must have a tag");
  expect((await client.list(GadgetV2, { namespace })).items.length).toBeGreaterThanOrEqual(2);
  const other = { metadata: { namespace, name: "three" }, spec: { container: { image: "unconvertible" } } };
  expect((await failureOf(client.create(GadgetV2, other))).message).toContain(
    "failed: spec.container.image is of another world",
  );
});

test("the operator's own namespace is not asked about", async () => {
  const made = await client.create(Gadget, {
    metadata: { namespace: ownNamespace, name: "free" },
    spec: { image: "nginx" },
  });
  expect(made.metadata.labels).toBeUndefined();
  await client.delete(Gadget, { namespace: ownNamespace, name: "free" });
});

test("a bundle that is taken out is put back", async () => {
  const wiped = await client.get(ValidatingWebhookConfiguration, { name });
  const webhooks = wiped.webhooks?.map((one) => {
    const { caBundle: _bundle, ...clientConfig } = one.clientConfig;
    return { ...one, clientConfig };
  });
  await client.update(ValidatingWebhookConfiguration, { ...wiped, webhooks: webhooks ?? [] });
  await waitFor(
    client,
    ValidatingWebhookConfiguration,
    { name },
    ({ webhooks: now }) => now?.[0]?.clientConfig.caBundle,
  );
});

test("applying the manifests again leaves the bundle where it is", async () => {
  const before = await client.get(ValidatingWebhookConfiguration, { name });
  for (const one of server(0, `https://${host}:19443`, false).configurations())
    await applyManifest(cluster.client, one);
  const after = await client.get(ValidatingWebhookConfiguration, { name });
  expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  expect(after.webhooks?.[0]?.clientConfig.caBundle).toBeDefined();
});

test("authorities rotate under load, with two replicas, and no request fails", async () => {
  // Both replicas answer at one address, in turns: the way a Service's endpoints do.
  const { createServer, connect } = await import("node:net");
  const ports = [19444, 19445] as const;
  let turn = 0;
  /** How to hang up on the API server, as a replica does, by connection. */
  const open = new Map<Socket, () => void>();
  const balancer = createServer((socket) => {
    turn += 1;
    socket.once("close", () => open.delete(socket));
    const onward = connect(ports[turn % 2] ?? ports[0], host);
    socket.pipe(onward).pipe(socket);
    open.set(socket, () => {
      socket.unpipe(onward);
      socket.resume();
      onward.end();
    });
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    balancer.listen(19446, host, resolve);
  });
  stops.unshift(async () => void balancer.close());
  const url = `https://${host}:19446`;
  await stops.pop()?.();
  await cluster.client.delete(ValidatingWebhookConfiguration, { name });
  await cluster.client.delete(MutatingWebhookConfiguration, { name });
  await cluster.install(Gadget.crd({ conversion: { url: `${url}/convert` } }));
  const replicas = await Promise.all(ports.map((port) => replica(port, url, { install: true })));
  for (const { ready } of replicas) await eventually(ready, "ok");
  await eventually(() => labelled("again"), "yes");

  const authority = async () => {
    const { data } = await client.get(Secret, { namespace: ownNamespace, name: `${name}-webhook-ca` });
    return data?.["tls.crt"] ?? "";
  };
  const authorities = new Set([await authority()]);
  const until = Date.now() + 75_000;
  let asked = 0;
  for (; Date.now() < until; asked += 1) {
    // So that the API server dials again, and looks at what is served now.
    if (asked % 5 === 0)
      await Promise.all(
        [...open].map(([socket, hangUp]) => {
          hangUp();
          return once(socket, "close");
        }),
      );
    const made = await create(`load-${asked}`, { image: "nginx:1" }, true);
    expect(made.metadata.labels).toEqual({ "example.com/checked": "yes" });
    await client.list(GadgetV2, { namespace });
    if (asked % 20 === 0) authorities.add(await authority());
  }
  expect(asked).toBeGreaterThan(100);
  expect(turn).toBeGreaterThan(20);
  expect(authorities.size).toBeGreaterThanOrEqual(3);
  const { spec } = await client.get(CustomResourceDefinition, { name: `gadgets.${group}` });
  const bundle = Buffer.from(spec.conversion?.webhook?.clientConfig?.caBundle ?? "", "base64").toString();
  expect(bundle.match(/BEGIN CERTIFICATE/g)?.length).toBeLessThanOrEqual(3);
});
