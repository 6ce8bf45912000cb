import { join } from "node:path";
import { applyManifest, type Manifest } from "@windlass/client";
import { Namespace, Pod, type PodSpecInput } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manifestsOf } from "../../packages/cli/src/generate/accepted.ts";
import { generatedFiles } from "../../packages/cli/src/generate/files.ts";
import { loadOperator } from "../../packages/cli/src/generate/load.ts";
import { relayOperator } from "../../packages/cli/src/generate/relay-operator.fixture.ts";
import { type Operator, resolveOperator } from "../../packages/cli/src/generate/resolve.ts";

const webapp = join(import.meta.dirname, "..", "..", "operators", "webapp", "windlass.config.ts");
const operators: readonly Operator[] = [resolveOperator(relayOperator, "1.2.3"), await loadOperator(webapp)];

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

test.for(operators)("what is generated for $name is accepted, field by field", async (operator) => {
  const { client } = cluster;
  const manifests = manifestsOf(generatedFiles(operator)).map(([, manifest]) => manifest);
  const space = manifests.find(({ kind }) => kind === "Namespace");
  if (space === undefined) throw new Error("there is no Namespace");
  await applyManifest(client, space);
  // The rest is not stored: other tests use the same server.
  const strict = { dryRun: true, fieldValidation: "Strict" } as const;
  for (const manifest of manifests.filter((one) => one !== space))
    await applyManifest(client, manifest, strict);

  // The namespace admits restricted pods alone.
  for (const { metadata, spec } of manifests.filter(isDeployment)) {
    const key = { namespace: operator.namespace, name: metadata.name };
    const { serviceAccountName: _account, ...pod } = spec.template.spec;
    await client.create(
      Pod,
      { metadata: key, spec: { ...pod, automountServiceAccountToken: false } },
      strict,
    );
  }
  expect(manifests.filter(isDeployment).length).toBe(1 + operator.components.length);
  await client.delete(Namespace, { name: operator.namespace });
});

interface DeploymentManifest extends Manifest {
  readonly spec: { readonly template: { readonly spec: PodSpecInput } };
}

function isDeployment(manifest: Manifest): manifest is DeploymentManifest {
  return manifest.kind === "Deployment";
}
