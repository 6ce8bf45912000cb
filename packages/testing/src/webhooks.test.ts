import { applyManifest, Client, type Transport } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import {
  type Cache,
  CacheMissError,
  defineResource,
  invalid,
  manager,
  type WebhookServerOptions,
  webhookServer,
} from "@windlass/runtime";
import {
  CustomResourceDefinition,
  Namespace,
  Secret,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Backend } from "./backend.ts";
import { startCluster, TestCluster } from "./cluster.ts";
import { Simulation } from "./simulate.ts";
import { waitFor } from "./wait.ts";

const ParcelV2 = defineResource({
  group: "testing.windlass.dev",
  version: "v2",
  kind: "Parcel",
  spec: z.object({ grams: z.int32() }),
});
const Parcel = defineResource({
  group: "testing.windlass.dev",
  version: "v1",
  kind: "Parcel",
  spec: z.object({ kilograms: z.int32() }),
}).withVersion(ParcelV2, {
  to: ({ spec }) => ({ spec: { grams: spec.kilograms * 1000 } }),
  from: ({ spec }) => ({ spec: { kilograms: spec.grams / 1000 } }),
});

const name = "parcel-operator";

function parcels(options: Partial<WebhookServerOptions>, asked: () => void = () => undefined) {
  return webhookServer({ name, ...options })
    .validate(Parcel, ({ spec }) => {
      asked();
      return spec.kilograms > 30 ? invalid("spec.kilograms", "must be 30 or less") : undefined;
    })
    .convert(Parcel);
}

const weighing = (kilograms: number) => ({
  metadata: { namespace: "default", name: `p${kilograms}` },
  spec: { kilograms },
});

test("a webhook server is called by the embedded control plane with nothing else to be said", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const webhooks = parcels(await cluster.webhooks(name));
  await cluster.install({ crd: () => Parcel.crd({ conversion: webhooks.conversion() }) });
  await cluster.run(name, (options) => manager(options).add(webhooks));
  await cluster.client.create(Parcel, weighing(2));
  const { spec } = await cluster.client.get(ParcelV2, { namespace: "default", name: "p2" });
  expect(spec.grams).toBe(2000);
  await expect(cluster.client.create(Parcel, weighing(31))).rejects.toThrow("must be 30 or less");
});

test.each([
  ["by URL take the place of those of a manifest that calls a Service", "url"],
  ["by a Service take the place of those of a manifest that calls a URL", "service"],
] as const)("webhooks that are installed to be called %s", async (_, by) => {
  await using cluster = await startCluster();
  const { client } = cluster;
  const namespace = await cluster.createNamespace(name);
  const service = { namespace };
  const url = "https://127.0.0.1:1";
  const [installed, applied] =
    by === "url" ? [{ url, service }, { service }] : [{ service }, { url, service }];
  const manifest = parcels(applied);
  await cluster.install({ crd: () => Parcel.crd({ conversion: manifest.conversion() }) });
  const [configuration] = manifest.configurations();
  if (!configuration) throw new Error("there is no configuration");
  await applyManifest(client, configuration);
  const running = await cluster.run(name, (options) =>
    manager(options).add(parcels({ install: true, port: 0, host: "127.0.0.1", ...installed })),
  );
  const other = by === "url" ? "service" : "url";
  const led = (config: object | undefined) =>
    config && "caBundle" in config && by in config && !(other in config);
  await waitFor(client, ValidatingWebhookConfiguration, { name }, ({ webhooks }) =>
    led(webhooks?.[0]?.clientConfig),
  );
  await waitFor(client, CustomResourceDefinition, { name: "parcels.testing.windlass.dev" }, ({ spec }) =>
    led(spec.conversion?.webhook?.clientConfig),
  );
  await running.stop();
  await client.delete(ValidatingWebhookConfiguration, { name });
});

test("a webhook of another operator that is installed before ours at the moment of installing is left as it is", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  const namespace = await cluster.createNamespace(name);
  const manifest = parcels({ service: { namespace } });
  await cluster.install({ crd: () => Parcel.crd({ conversion: manifest.conversion() }) });
  const [configuration] = manifest.configurations();
  const [ours] = configuration?.webhooks ?? [];
  if (!configuration || !ours) throw new Error("there is no webhook");
  await applyManifest(client, configuration);
  const clientConfig = { service: { namespace, name: "theirs", path: "/theirs", port: 443 } };
  const theirs = {
    ...ours,
    name: "theirs.testing.windlass.dev",
    failurePolicy: "Ignore" as const,
    clientConfig,
  };
  let isAdded = false;
  const racing = client.through((next) => ({
    request: async (request) => {
      if (!isAdded && request.headers["content-type"] === "application/json-patch+json") {
        isAdded = true;
        const patch = { webhooks: [theirs, ours] };
        await client.patch(ValidatingWebhookConfiguration, { name }, { type: "merge", patch });
      }
      return await next.request(request);
    },
    close: () => next.close(),
  }));
  const url = "https://127.0.0.1:1";
  const running = await cluster.run(name, (options) =>
    manager({ ...options, client: racing }).add(
      parcels({ install: true, port: 0, host: "127.0.0.1", url, service: { namespace } }),
    ),
  );
  const { webhooks = [] } = await waitFor(client, ValidatingWebhookConfiguration, { name }, (live) =>
    live.webhooks?.some((one) => one.name === ours.name && one.clientConfig.caBundle) ? live : undefined,
  );
  expect(isAdded).toBe(true);
  expect(webhooks.find((one) => one.name === theirs.name)?.clientConfig).toEqual(clientConfig);
  expect(webhooks.find((one) => one.name === ours.name)?.clientConfig.url).toContain(url);
  await running.stop();
  await client.delete(ValidatingWebhookConfiguration, { name });
});

test("the Secret that a webhook server watches is no answer to anybody about other Secrets", async () => {
  await using cluster = await startCluster();
  const namespace = await cluster.createNamespace(name);
  const other = { namespace, name: "other" };
  await cluster.client.create(Secret, { metadata: other });
  let cache: Cache | undefined;
  const url = "https://127.0.0.1:1";
  const webhooks = webhookServer({ name, url, port: 0, host: "127.0.0.1", service: { namespace } });
  await cluster.run(name, (options) =>
    manager(options)
      .add(webhooks)
      .add({
        name: "reader",
        stage: "everywhere",
        start: (context) => {
          cache = context.cache;
        },
      }),
  );
  const authority = { namespace, name: `${name}-webhook-ca` };
  await expect.poll(() => cache?.get(Secret, authority)?.metadata.name).toBe(authority.name);
  expect(() => cache?.get(Secret, other)).toThrow(CacheMissError);
  expect(() => cache?.list(Secret)).toThrow(CacheMissError);
  expect(() => cache?.list(Secret, { namespace })).toThrow(CacheMissError);
});

test("replicas behind one Service are called in turn, and those that are left when one stops", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const asked = [0, 0];
  const managers = [];
  for (const [index] of asked.entries()) {
    const webhooks = parcels(await cluster.webhooks(name), () => {
      asked[index] = (asked[index] ?? 0) + 1;
    });
    if (index === 0) await cluster.install({ crd: () => Parcel.crd({ conversion: webhooks.conversion() }) });
    managers.push(await cluster.run(name, (options) => manager(options).add(webhooks)));
  }
  for (let kilograms = 1; kilograms <= 4; kilograms++)
    await cluster.client.create(Parcel, weighing(kilograms));
  expect(asked).toEqual([2, 2]);
  await managers[0]?.stop();
  await cluster.client.create(Parcel, weighing(5));
  expect(asked).toEqual([2, 3]);
});

test("in a simulation an operator's webhooks end with it", async () => {
  await using world = await Simulation.start({ seed: 3 });
  const webhooks = parcels(world.webhooks(name));
  const crd = Parcel.crd({ conversion: webhooks.conversion() });
  await world.client.create(CustomResourceDefinition, crd);
  const operator = await world.run(name, (options) => manager(options).add(webhooks));
  await world.until(world.client.create(Parcel, weighing(1)));
  operator.crash();
  await expect(world.until(world.client.create(Parcel, weighing(2)))).rejects.toThrow(
    /failed calling webhook/,
  );
});

test("on an API server of another process they are called by a port of this one, and nothing of them is left behind", async () => {
  const plane = await ControlPlane.start();
  onTestFinished(() => plane.close());
  const backend: Backend = {
    hasControllers: true,
    shared: true,
    transport: () => plane.connect() as Transport,
    kubeconfig: () => Promise.resolve(""),
    close: () => Promise.resolve(),
  };
  const client = new Client({ transport: plane.connect() as Transport });
  {
    await using cluster = new TestCluster("cluster", backend);
    const webhooks = parcels(await cluster.webhooks(name));
    const { spec, ...crd } = Parcel.crd({ conversion: webhooks.conversion() });
    // What looks for the objects finds the version first that must be converted.
    await cluster.install({
      crd: () => ({ ...crd, spec: { ...spec, versions: spec.versions.toReversed() } }),
    });
    await cluster.run(name, (options) => manager(options).add(webhooks));
    await expect(client.create(Parcel, weighing(31))).rejects.toThrow("must be 30 or less");
    expect((await client.list(ValidatingWebhookConfiguration)).items).toHaveLength(1);
    // Left to be cleaned up when no webhook converts it any more.
    const namespace = await cluster.createNamespace(name);
    await client.create(Parcel, { ...weighing(3), metadata: { namespace, name: "left" } });
  }
  expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  const names = (await client.list(Namespace)).items.map(({ metadata }) => metadata.name);
  expect(names.filter((one) => one.startsWith(name))).toEqual([]);
  expect((await client.list(CustomResourceDefinition)).items).toEqual([]);
});
