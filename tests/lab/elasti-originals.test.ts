import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResourceKind } from "@windlass/client";
import { Deployment, Service, StatefulSet } from "@windlass/runtime/kinds";
import { waitFor, waitForDeletion } from "@windlass/testing";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ElastiService, type ElastiServiceObject } from "../../operators/elasti/src/index.ts";
import { agnhost } from "../../operators/elasti/testing/agnhost.ts";
import { type LabEnvironment, labEnvironment } from "../../operators/elasti/testing/lab-environment.ts";
import { askOnce, untilAnswered } from "../../operators/elasti/testing/load.ts";
import { record } from "../../operators/elasti/testing/record.ts";

/**
 * A folder with the original's manifests, such as a clone of its repository. They are not ours to
 * copy.
 */
const folder = process.env.ELASTI_ORIGINALS;
const wait = { timeout: 90_000 };
/** For manifests that the compiler should not check: the server is asked. */
const { group, version, kind, plural, scope } = ElastiService;
const untyped: ResourceKind = { group, version, kind, plural, scope };

type Manifest = Pick<ElastiServiceObject, "kind" | "metadata" | "spec">;

let lab: LabEnvironment;

beforeAll(async () => {
  if (folder !== undefined) lab = await labEnvironment();
}, 300_000);
afterAll(() => lab?.[Symbol.asyncDispose](), 300_000);

async function manifests(from: string): Promise<readonly (readonly [file: string, manifest: Manifest])[]> {
  const found: (readonly [string, Manifest])[] = [];
  for await (const file of glob("**/*.yaml", { cwd: from })) {
    const text = await readFile(join(from, file), "utf8");
    if (!/^kind: ElastiService$/m.test(text)) continue;
    for (const one of loadAll(text) as (Manifest | null)[]) if (one?.kind === kind) found.push([file, one]);
  }
  return found;
}

/** Makes what a manifest refers to. */
async function createReferred({
  scaleTargetRef,
  service,
}: Manifest["spec"]): Promise<() => Promise<unknown>> {
  const { client, namespace } = lab;
  const labels = { app: service };
  const metadata = { namespace, name: scaleTargetRef.name };
  const template = { metadata: { labels }, spec: { containers: [agnhost] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  const isStateful = scaleTargetRef.kind === "StatefulSet";
  if (isStateful) await client.create(StatefulSet, { metadata, spec: { ...spec, serviceName: service } });
  else await client.create(Deployment, { metadata, spec });
  const target = isStateful ? StatefulSet : Deployment;
  const ports = [{ port: 80, targetPort: 8080 }];
  await client.create(Service, { metadata: { namespace, name: service }, spec: { selector: labels, ports } });
  await waitFor(client, target, metadata, ({ status }) => status?.readyReplicas === 1, wait);
  return () => client.patch(target, metadata, { type: "merge", patch: { spec: { replicas: 0 } } });
}

test.skipIf(folder === undefined)(
  "the original's own manifests apply as they are, and their targets sleep and wake",
  { timeout: 1_200_000 },
  async () => {
    const { client, namespace } = lab;
    const all = await manifests(folder ?? "");
    expect(all.length).toBeGreaterThan(0);
    for (const [file, { metadata, spec }] of all) {
      process.stdout.write(`${file}: ${metadata.name}\n`);
      const scaleToZero = await createReferred(spec);
      const key = { namespace, name: metadata.name };
      await client.create(
        untyped,
        { metadata: { ...metadata, namespace }, spec },
        { fieldValidation: "Strict" },
      );
      await waitFor(client, ElastiService, key, ({ status }) => status?.mode === "serve", wait);
      const service = await client.get(Service, { namespace, name: spec.service });
      const url = `http://${service.spec?.clusterIP}/hostname`;
      await untilAnswered(url);
      await scaleToZero();
      // Outside of its period it is woken at once.
      if (spec.enabledPeriod === undefined)
        await waitFor(
          client,
          ElastiService,
          key,
          ({ status }) => status?.phase === "Asleep" && status.mode === "proxy",
          wait,
        );
      await untilAnswered(url);
      expect(await askOnce(url)).toMatchObject({ status: 200 });
      await waitFor(client, ElastiService, key, ({ status }) => status?.mode === "serve", wait);
      await client.delete(ElastiService, key);
      await waitForDeletion(client, ElastiService, key, wait);
      const ref = { namespace, name: spec.scaleTargetRef.name };
      await client.delete(spec.scaleTargetRef.kind === "StatefulSet" ? StatefulSet : Deployment, ref);
      await client.delete(Service, { namespace, name: spec.service });
    }
    await record("manifests of the original", { manifests: all.length, sleptAndWoke: all.length });
  },
);
