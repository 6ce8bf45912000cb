import type { NamespacedKey } from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";
import { waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuildKitWorker } from "../../operators/buildkit/src/index.ts";
import { type BuildEnd, type BuildInit, build } from "../../operators/buildkit/testing/gateway-build.ts";
import { type Allocated, LabOperator, labHost } from "../../operators/buildkit/testing/lab-operator.ts";
import { OciRegistry } from "../../operators/buildkit/testing/oci-registry.ts";
import { S3Server } from "../../operators/buildkit/testing/s3-server.ts";

/**
 * Whether a build finds its project's cache where its pool's backends keep it, on a worker that has
 * none.
 */
let operator: LabOperator;
let namespace: string;
let registry: OciRegistry;
let s3: S3Server;
const credentials = { accessKeyId: "builds", secretAccessKey: crypto.randomUUID() };
const gone = { registry: false };

beforeAll(async () => {
  [operator, registry, s3] = await Promise.all([
    LabOperator.start(2),
    OciRegistry.start(),
    S3Server.start(credentials),
  ]);
  namespace = await operator.createNamespace();
  await operator.client.create(Secret, {
    metadata: { namespace, name: "s3" },
    stringData: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
  });
  // No worker is used twice, so none has the cache of a build before.
  const scaling = { min: 0, max: 2, reuse: "never" } as const;
  const endpoint = `${labHost}:${registry.port}`;
  await operator.createPool(namespace, "registry", {
    scaling,
    cache: { backends: [{ type: "registry", registry: { endpoint, insecure: true } }] },
  });
  const bucket = {
    bucket: "cache",
    region: "eu-west-1",
    endpoint: `http://${labHost}:${s3.port}`,
    prefix: "builds/",
    credentialsSecret: "s3",
  };
  await operator.createPool(namespace, "s3", { scaling, cache: { backends: [{ type: "s3", s3: bucket }] } });
}, 600_000);
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  if (!gone.registry) await registry[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
}, 300_000);

const told = (what: string, figure: string) => process.stdout.write(`  ${what}: ${figure}\n`);
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
const cachedSteps = (output: string) => output.match(/CACHED/g)?.length ?? 0;
const flags = {
  buildctl: ["--import-cache", "--export-cache"],
  buildx: ["--cache-from", "--cache-to"],
} as const;
const steps = (project: string) => [
  `RUN echo ${project} > /seed && /bin/busybox dd if=/dev/urandom of=/large bs=1048576 count=12`,
  "RUN for round in 1 2 3 4 5 6 7 8; do /bin/busybox sha256sum /large; done > /sums",
];

/** A build of a project on a worker of its own, which is deleted after it. */
async function buildOnce(
  pool: string,
  project: string,
  tool: NonNullable<BuildInit["tool"]>,
): Promise<BuildEnd & { readonly worker: NamespacedKey }> {
  const allocated: Allocated = await operator.allocate({ namespace, name: pool }, { affinityKey: project });
  const { cacheOptions, workerName } = allocated;
  expect(cacheOptions.import).toHaveLength(1);
  const [read, write] = flags[tool];
  const args = [
    ...cacheOptions.import.flatMap((one) => [read, one]),
    ...cacheOptions.export.flatMap((one) => [write, one]),
  ];
  const end = await build(operator.client, allocated, { tool, steps: steps(project), args });
  const worker = { namespace, name: workerName };
  await operator.release(allocated);
  await waitForDeletion(operator.client, BuildKitWorker, worker, { timeout: 60_000 });
  return { ...end, worker };
}

describe.each(["registry", "s3"])("backend %s", (pool) => {
  test.each(["buildctl", "buildx"] as const)(
    "%s finds its project's cache there on another worker",
    async (tool) => {
      const project = `acme/${tool}`;
      const cold = await buildOnce(pool, project, tool);
      expect(cold).toMatchObject({ code: 0 });
      expect(cachedSteps(cold.output)).toBe(0);
      // Another project's cache does not take its place.
      expect(await buildOnce(pool, "acme/other", tool)).toMatchObject({ code: 0 });
      const warm = await buildOnce(pool, project, tool);
      expect(warm).toMatchObject({ code: 0 });
      expect(cachedSteps(warm.output)).toBeGreaterThanOrEqual(steps(project).length);
      told(`${pool}, ${tool}: first build, and again`, `${seconds(cold.ms)}, ${seconds(warm.ms)}`);
    },
    300_000,
  );
});

test("what was written is where the pool says, and by no client without the right keys", () => {
  expect(registry.references.filter((one) => one.startsWith("buildkit-cache:acme-"))).toHaveLength(3);
  expect([...s3.objects.keys()].filter((one) => one.startsWith("cache/builds/")).length).toBeGreaterThan(3);
  expect(s3.refused).toEqual([]);
});

test("a build is no worse for a registry that is down", async () => {
  await registry[Symbol.asyncDispose]();
  gone.registry = true;
  expect(await buildOnce("registry", "acme/down", "buildctl")).toMatchObject({ code: 0 });
}, 300_000);
