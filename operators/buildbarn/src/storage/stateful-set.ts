import { type Child, child } from "@windlass/runtime";
import { type PodTemplateSpecInput, StatefulSet } from "@windlass/runtime/kinds";
import {
  type Configured,
  podTemplate,
  programContainer,
  restricted,
  wantedOf,
  withRevision,
} from "../component/index.ts";
import { ports, profiles } from "../configuration/index.ts";
import { labelsOf, podSelector, wantedAnnotation } from "../names.ts";
import { type ClaimTemplate, mountPathOf, stores } from "./claims.ts";
import type { Storage } from "./storage.ts";

/** How long a shard may take to write down what it has before it stops. */
const terminationGracePeriodSeconds = 300;

/** The template of a shard's pod. */
export function shardTemplate(storage: Storage, { configMap, hash }: Configured): PodTemplateSpecInput {
  const { metadata, spec } = storage;
  const mounts = stores.map((name) => ({ name, mountPath: mountPathOf(name) }));
  const directories = stores.map((store) => `${mountPathOf(store)}/persistent_state`);
  return withRevision(
    podTemplate({
      app: "storage",
      object: storage,
      selector: podSelector("storage", metadata.name),
      configMap,
      configHash: hash,
      shardMap: undefined,
      pod: {
        terminationGracePeriodSeconds,
        initContainers: [
          {
            name: "volume-init",
            image: spec.volumeInitImage,
            command: ["sh", "-c", `mkdir -m 0700 -p ${directories.join(" ")}`],
            securityContext: restricted,
            terminationMessagePolicy: "FallbackToLogsOnError",
            volumeMounts: mounts,
          },
        ],
      },
      containers: [
        programContainer({
          name: "storage",
          image: spec.image ?? profiles[spec.version].images.storage,
          entry: "storage.jsonnet",
          ports: { grpc: ports.storage },
          resources: spec.resources,
          mounts,
        }),
      ],
    }),
  );
}

/** The StatefulSet of the shards. */
export function statefulSetFor(
  { metadata: { name }, spec }: Storage,
  shards: number,
  template: PodTemplateSpecInput,
  claims: readonly ClaimTemplate[],
  after: readonly Child[],
): Child<typeof StatefulSet> {
  const wanted = {
    replicas: shards,
    serviceName: name,
    // One shard that does not start does not keep the others from it.
    podManagementPolicy: "Parallel",
    minReadySeconds: spec.minReadySeconds,
    selector: { matchLabels: podSelector("storage", name) },
    persistentVolumeClaimRetentionPolicy: {
      whenScaled: spec.deletionPolicy,
      // The StatefulSet is replaced when volumes grow: what becomes of them at the end is the finalizer's to do.
      whenDeleted: "Retain",
    },
    template,
    volumeClaimTemplates: claims.map(({ template: claim }) => claim),
  } as const;
  const labels = labelsOf("storage", name, spec.cluster);
  const annotations = { [wantedAnnotation]: wantedOf(wanted) };
  return child(StatefulSet, { metadata: { name, labels, annotations }, spec: wanted }, { after });
}
