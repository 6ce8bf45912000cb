import { type AnyKind, isBadRequest, isInvalid } from "@windlass/client";
import { defineResource } from "@windlass/runtime";
import {
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { builtin } from "@windlass/runtime/schemas";
import { startCluster, type TestCluster } from "@windlass/testing";
import { sample } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type OpenApiDocument, valuesOf } from "./openapi-values.ts";
import { projected } from "./projected.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
  await cluster.install(Specs);
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/** As it goes over the wire: no `undefined`. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

type Spec = Readonly<Record<string, unknown>>;
const selector = { matchLabels: { app: "web" } };
/** The random template with the labels and the container that every workload needs. */
const runnable = ({ metadata, spec }: { metadata?: Spec; spec?: Spec & { containers?: Spec[] } } = {}) => ({
  metadata: { ...metadata, labels: { app: "web" } },
  spec: { ...spec, containers: [{ ...spec?.containers?.[0], name: "web", image: "nginx" }] },
});
const workload = (spec: Spec): Spec => ({ ...spec, selector, template: runnable(spec.template as Spec) });
const backend = { service: { name: "web", port: { number: 80 } } };

/** `repair` sets the fields that random values would hardly ever get right. */
const kinds = [
  { kind: Deployment, document: "apis/apps/v1", type: "appsv1.DeploymentSpec", repair: workload },
  { kind: StatefulSet, document: "apis/apps/v1", type: "appsv1.StatefulSetSpec", repair: workload },
  {
    kind: CronJob,
    document: "apis/batch/v1",
    type: "batchv1.CronJobSpec",
    repair: (spec: Spec) => {
      const { spec: job, ...jobTemplate } = (spec.jobTemplate ?? {}) as { spec?: Spec };
      const { metadata, spec: pod } = runnable(job?.template as Spec | undefined);
      const template = { metadata, spec: { ...pod, restartPolicy: "Never" } };
      return { ...spec, timeZone: "Etc/UTC", jobTemplate: { ...jobTemplate, spec: { ...job, template } } };
    },
  },
  {
    kind: Service,
    document: "api/v1",
    type: "corev1.ServiceSpec",
    repair: (spec: Spec) => ({ ...spec, ports: [{ ...(spec.ports as Spec[] | undefined)?.[0], port: 80 }] }),
  },
  {
    kind: Ingress,
    document: "apis/networking.k8s.io/v1",
    type: "networkingv1.IngressSpec",
    repair: (spec: Spec) => ({
      ...spec,
      defaultBackend: backend,
      rules: ((spec.rules ?? []) as Spec[]).map((rule) => ({
        ...rule,
        http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
      })),
    }),
  },
  {
    kind: NetworkPolicy,
    document: "apis/networking.k8s.io/v1",
    type: "networkingv1.NetworkPolicySpec",
    repair: (spec: Spec) => spec,
  },
  {
    kind: HorizontalPodAutoscaler,
    document: "apis/autoscaling/v2",
    type: "autoscalingv2.HorizontalPodAutoscalerSpec",
    repair: (spec: Spec) => ({
      ...spec,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 9,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: 1 } } },
      ],
    }),
  },
  {
    kind: PodDisruptionBudget,
    document: "apis/policy/v1",
    type: "policyv1.PodDisruptionBudgetSpec",
    repair: (spec: Spec) => spec,
  },
  {
    kind: PersistentVolumeClaim,
    document: "api/v1",
    type: "corev1.PersistentVolumeClaimSpec",
    repair: (spec: Spec) => ({
      ...spec,
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: 1 } },
    }),
  },
] as const;

const Specs = defineResource({
  group: "schemas.windlass.dev",
  version: "v1",
  kind: "Specs",
  plural: "specs",
  spec: z.object(
    Object.fromEntries(
      kinds.map(({ kind, type }): [string, z.ZodType] => [kind.kind, builtin(type).optional()]),
    ),
  ),
});
const runs = 60;

test.for(kinds)(
  "a random spec that $kind.kind accepts is accepted by its schema, and stored unchanged",
  { timeout: 60_000 },
  async ({ kind, document, type, repair }) => {
    const published = (await cluster.client.json({ path: `/openapi/v3/${document}` })) as OpenApiDocument;
    const name = `io.k8s.api.${type.replace(/(v\d)\./, ".$1.")}`;
    const schema: z.ZodType = builtin(type);
    let taken = 0;
    for (const random of sample(valuesOf(published, name), { seed: 7, numRuns: runs })) {
      const spec = repair(random);
      const said = JSON.stringify(spec);
      const metadata = { namespace, name: "random" };
      const refused = await cluster.client.create<AnyKind>(kind, { metadata, spec }, { dryRun: true }).then(
        () => false,
        (error: unknown) => {
          if (isInvalid(error) || isBadRequest(error)) return true;
          throw error;
        },
      );
      if (refused) continue;
      taken++;
      const parsed = schema.safeParse(spec);
      expect(parsed.error?.issues, said).toBeUndefined();
      const embedding = { metadata, spec: { [kind.kind]: spec } };
      const stored = await cluster.client.create(Specs, embedding, {
        dryRun: true,
        fieldValidation: "Strict",
      });
      const kept = stored.spec[kind.kind];
      expect(plain(kept), said).toEqual(plain(parsed.data));
      expect(projected(kept, spec), said).toEqual(plain(spec));
    }
    expect(taken, "enough random specs are accepted for the test to be meaningful").toBeGreaterThan(runs / 4);
  },
);
