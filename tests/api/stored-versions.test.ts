import { applyManifest, type Interceptor, isInvalid } from "@windlass/client";
import { defineResource, manager, migrateStoredVersions, rbacFor } from "@windlass/runtime";
import {
  CustomResourceDefinition,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keepLog } from "./logged.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace("migration");
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/** Two releases of a kind: the first stores v1, the second v2 and still serves v1. */
function releases(kind: string) {
  const common = { group: "migration.windlass.dev", kind, spec: z.object({ size: z.int32().default(1) }) };
  const first = defineResource({ ...common, version: "v1" });
  const second = defineResource({ ...common, version: "v2" });
  const both = second.withVersion(first, { to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }) });
  return { first, second, both, crd: both.crd({ conversion: "None" }) };
}

async function storedVersions(name: string): Promise<readonly string[]> {
  const { status } = await cluster.client.get(CustomResourceDefinition, { name });
  return status?.storedVersions ?? [];
}

/** Runs the migration under the rights that are generated for it. */
async function migrate(
  kind: Parameters<typeof migrateStoredVersions>[0][number],
  interceptor: Interceptor = (next) => next,
) {
  const migration = migrateStoredVersions([kind], { settle: 0, retry: "100ms" });
  const account = kind.plural;
  const serviceAccount = { namespace, name: account };
  for (const role of rbacFor([migration], { name: `${account}-${namespace}`, serviceAccount }))
    await applyManifest(cluster.client, role);
  const client = (await cluster.clientFor(namespace, account)).through(interceptor);
  const { log, lines } = keepLog();
  const running = await cluster.run(account, (options) =>
    manager({ ...options, client, log }).add(migration),
  );
  onTestFinished(() => running.stop());
  return { lines, running };
}

test("objects of an old version are rewritten, and the version can be removed", async () => {
  const { first, second, both, crd } = releases("Jar");
  await cluster.install(first);
  for (const name of ["a", "b", "c"])
    await cluster.client.create(first, { metadata: { namespace, name }, spec: { size: 2 } });
  await cluster.install(crd);
  const { name } = crd.metadata;
  expect(await storedVersions(name)).toEqual(["v1", "v2"]);
  const before = await cluster.client.get(second, { namespace, name: "a" });
  await migrate(both);
  const trimmed = await waitFor(cluster.client, CustomResourceDefinition, { name }, (live) =>
    live.status?.storedVersions?.length === 1 && live.metadata.annotations === undefined ? live : undefined,
  );
  expect(trimmed.status?.storedVersions).toEqual(["v2"]);
  const after = await cluster.client.get(second, { namespace, name: "a" });
  expect(after.spec).toEqual(before.spec);
  // The server stored it again, although nothing in it changed.
  expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
  await cluster.install(second.crd());
  expect((await cluster.client.get(second, { namespace, name: "c" })).spec).toEqual({ size: 2 });
}, 60_000);

test.each(["rewrite", "drop"] as const)(
  "a definition that changes at the first %s keeps its versions until all is rewritten again",
  async (when) => {
    const { first, both, crd } = releases(when === "rewrite" ? "Lid" : "Cork");
    const { name } = crd.metadata;
    await cluster.install(first);
    await cluster.client.create(first, { metadata: { namespace, name: "a" }, spec: { size: 2 } });
    await cluster.install(crd);
    const steps: string[] = [];
    await migrate(both, (next) => ({
      request: async (request) => {
        const { method, path } = request;
        const isRewrite = path.includes(`/${both.plural}/`);
        if (method === "PATCH" && (isRewrite || path.includes(`/${name}/status`))) {
          const step = isRewrite ? "rewrite" : "drop";
          if (step === when && !steps.includes(step)) {
            const patch = { spec: { names: { shortNames: [`short-${both.plural}`] } } };
            await cluster.client.patch(CustomResourceDefinition, { name }, { type: "merge", patch });
          }
          steps.push(step);
        }
        return await next.request(request);
      },
      close: () => next.close(),
    }));
    await expect.poll(() => storedVersions(name), { timeout: 20_000 }).toEqual(["v2"]);
    expect(steps).toEqual(
      when === "rewrite" ? ["rewrite", "rewrite", "drop"] : ["rewrite", "drop", "rewrite", "drop"],
    );
  },
  60_000,
);

/** Has the server refuse boxes that are larger than 5, and waits until it does. */
async function refuseLargeBoxes(kind: ReturnType<typeof releases>["first"]): Promise<void> {
  const metadata = { name: `no-large-boxes.${namespace}` };
  const resourceRules = [
    {
      apiGroups: [kind.group],
      apiVersions: ["*"],
      operations: ["CREATE" as const, "UPDATE" as const],
      resources: [kind.plural],
    },
  ];
  await cluster.client.create(ValidatingAdmissionPolicy, {
    metadata,
    spec: {
      matchConstraints: { resourceRules },
      validations: [{ expression: "object.spec.size <= 5", message: "too large" }],
    },
  });
  await cluster.client.create(ValidatingAdmissionPolicyBinding, {
    metadata,
    spec: { policyName: metadata.name, validationActions: ["Deny"] },
  });
  onTestFinished(async () => {
    await cluster.client.delete(ValidatingAdmissionPolicyBinding, metadata);
    await cluster.client.delete(ValidatingAdmissionPolicy, metadata);
  });
  const tryLarge = () =>
    cluster.client
      .create(kind, { metadata: { namespace, name: "probe" }, spec: { size: 6 } }, { dryRun: true })
      .then(() => "taken", isInvalid);
  await expect.poll(tryLarge, { timeout: 20_000 }).toBe(true);
}

test("an object that a policy refuses is named, and its version stays", async () => {
  const { first, both, crd } = releases("Box");
  await cluster.install(first);
  await cluster.client.create(first, { metadata: { namespace, name: "small" }, spec: { size: 5 } });
  await cluster.client.create(first, { metadata: { namespace, name: "large" }, spec: { size: 9 } });
  await cluster.install(crd);
  await refuseLargeBoxes(first);
  const { lines } = await migrate(both);
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(1);
  expect(lines[0]).toContain(
    `1 objects of Box cannot be rewritten in v2, so v1 must stay in its definition; correct or delete them: ${namespace}/large: `,
  );
  expect(await storedVersions(crd.metadata.name)).toEqual(["v1", "v2"]);
  await cluster.client.delete(first, { namespace, name: "large" });
  await expect.poll(() => storedVersions(crd.metadata.name), { timeout: 10_000 }).toEqual(["v2"]);
}, 60_000);
