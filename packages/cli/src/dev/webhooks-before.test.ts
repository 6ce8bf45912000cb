import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { ValidatingWebhookConfiguration } from "@windlass/runtime/kinds";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CalledAt, WebhooksBefore } from "./webhooks-before.ts";

let plane: ControlPlane;
let client: Client;
let folder: string;
beforeEach(async () => {
  plane = await ControlPlane.start();
  client = new Client({ transport: plane.connect() });
  folder = await mkdtemp(join(tmpdir(), "windlass-before-"));
});
afterEach(async () => {
  await client.close();
  await plane.close();
  await rm(folder, { recursive: true, force: true });
});

const webhook = (clientConfig: object) =>
  ({
    name: "validate.shops.example.com",
    clientConfig,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
  }) as const;
const installed = { service: { namespace: "shop-system", name: "shop-webhook" } };

test.for<readonly [CalledAt, object]>([
  [{ url: "https://127.0.0.1:9443" }, { url: "https://127.0.0.1:9443/validate" }],
  [{ service: { namespace: "ada", name: "tunnel" } }, { service: { namespace: "ada", name: "tunnel" } }],
])("after a crash the next start puts back whom the cluster called: %j", async ([place, here]) => {
  const file = join(folder, "before.json");
  const names = ["shop", "new", "other"] as const;
  for (const name of ["shop", "other"])
    await client.create(ValidatingWebhookConfiguration, {
      metadata: { name },
      webhooks: [webhook(installed)],
    });
  await new WebhooksBefore(client, file).record(place, [], new AbortController().signal);
  // What an operator does that is then killed.
  await client.delete(ValidatingWebhookConfiguration, { name: "shop" });
  for (const name of ["shop", "new"])
    await client.create(ValidatingWebhookConfiguration, { metadata: { name }, webhooks: [webhook(here)] });

  const restored = await new WebhooksBefore(client, file).restore();
  expect(restored.toSorted()).toEqual([
    "ValidatingWebhookConfiguration new",
    "ValidatingWebhookConfiguration shop",
  ]);
  const { items } = await client.list(ValidatingWebhookConfiguration);
  const ours = items.filter(({ metadata }) => names.some((name) => name === metadata.name));
  expect(ours.map(({ metadata, webhooks }) => [metadata.name, webhooks?.[0]?.clientConfig])).toEqual([
    ["other", expect.objectContaining({ service: expect.objectContaining(installed.service) })],
    ["shop", expect.objectContaining({ service: expect.objectContaining(installed.service) })],
  ]);
  expect(await new WebhooksBefore(client, file).restore()).toEqual([]);
});
