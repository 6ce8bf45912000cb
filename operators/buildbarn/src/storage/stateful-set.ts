import { type Child, child } from "@windlass/runtime";
import { type PodTemplateSpecInput, StatefulSet } from "@windlass/runtime/kinds";
import {
  type PodConfiguration,
  podTemplate,
  programContainer,
  restricted,
  wantedOf,
  withRevision,
} from "../component/index.ts";
import { ports, profiles } from "../configuration/index.ts";
import { labelsOf, podSelector, ringLabel, wantedAnnotation } from "../names.ts";
import type { Ring } from "../resharding/index.ts";
import { ringName } from "../set/index.ts";
import { type ClaimTemplate, mountPathOf, stores } from "./claims.ts";
import type { Storage } from "./storage.ts";

/** How long a shard may take to write down what it has before it stops. */
const terminationGracePeriodSeconds = 300;

/** The template of a shard's pod. */
export function shardTemplate(
  storage: Storage,
  { configMap, configHash }: Pick<PodConfiguration, "configMap" | "configHash">,
): PodTemplateSpecInput {
  const { metadata, spec } = storage;
  const mounts = stores.map((name) => ({ name, mountPath: mountPathOf(name) }));
  const directories = stores.map((store) => `${mountPathOf(store)}/persistent_state`);
  return withRevision(
    podTemplate({
      app: "storage",
      object: storage,
      selector: podSelector("storage", metadata.name),
      configMap,
      configHash,
      shardMap: undefined,
      certificate: spec.internalTls?.secretName,
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

/** The labels that select the pods of a ring. Those of the first are the original's. */
function ringSelector(name: string, ring: Ring): Readonly<Record<string, string>> {
  return { ...podSelector("storage", name), ...(ring !== "a" && { [ringLabel]: ring }) };
}

/** The StatefulSet of the shards, or of their mirrors. */
export function statefulSetFor(
  { metadata: { name }, spec }: Storage,
  ring: Ring,
  shards: number,
  shared: PodTemplateSpecInput,
  claims: readonly ClaimTemplate[],
  after: readonly Child[],
): Child<typeof StatefulSet> {
  const selector = ringSelector(name, ring);
  const labelled = { ...shared.metadata, labels: { ...shared.metadata?.labels, ...selector } };
  const template = { ...shared, metadata: labelled };
  const wanted = {
    replicas: shards,
    serviceName: name,
    // One shard that does not start does not keep the others from it.
    podManagementPolicy: "Parallel",
    minReadySeconds: spec.minReadySeconds,
    selector: { matchLabels: selector },
    persistentVolumeClaimRetentionPolicy: {
      whenScaled: spec.deletionPolicy,
      // The StatefulSet is replaced when volumes grow: what happens to them at the end is up
      // to the finalizer.
      whenDeleted: "Retain",
    },
    template,
    volumeClaimTemplates: claims.map(({ template: claim }) => claim),
  } as const;
  const labels = labelsOf("storage", name, spec.cluster);
  const annotations = { [wantedAnnotation]: wantedOf(wanted) };
  return child(
    StatefulSet,
    { metadata: { name: ringName(name, ring), labels, annotations }, spec: wanted },
    { after },
  );
}
