import type { AnyKind } from "@windlass/runtime";
import {
  BuildbarnBrowser,
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
} from "./index.ts";

/** The original's own manifests: one of each kind, with the fields that it has. */
export const originalManifests = [
  {
    kind: BuildbarnScheduler,
    name: "scheduler",
    spec: {
      image: "ghcr.io/buildbarn/bb-scheduler:latest",
      replicas: 1,
      configMapName: "buildbarn-config",
      serviceType: "ClusterIP",
      resources: { requests: { cpu: "500m", memory: "512Mi" } },
    },
  },
  {
    kind: BuildbarnWorker,
    name: "worker-ubuntu22-04",
    spec: {
      image: "ghcr.io/buildbarn/bb-worker:latest",
      runnerImage: "ghcr.io/catthehacker/ubuntu:act-22.04",
      runnerInstallerImage: "ghcr.io/buildbarn/bb-runner-installer:latest",
      replicas: 8,
      instance: "ubuntu22-04",
      configMapName: "buildbarn-config",
      runnerResources: { limits: { cpu: 4, memory: "8Gi" } },
      nodeSelector: { "kubernetes.io/arch": "amd64" },
      tolerations: [{ key: "builds", operator: "Exists" }],
    },
  },
  {
    kind: BuildbarnStorage,
    name: "storage",
    spec: {
      image: "ghcr.io/buildbarn/bb-storage:latest",
      replicas: 2,
      configMapName: "buildbarn-config",
      volumeClaimTemplates: [
        {
          metadata: { name: "cas" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "33Gi" } } },
        },
        {
          metadata: { name: "ac" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  },
  {
    kind: BuildbarnFrontend,
    name: "frontend",
    spec: {
      image: "ghcr.io/buildbarn/bb-storage:latest",
      replicas: 3,
      configMapName: "buildbarn-config",
      serviceType: "LoadBalancer",
      imagePullSecrets: [{ name: "registry" }],
    },
  },
  {
    kind: BuildbarnBrowser,
    name: "browser",
    spec: {
      image: "ghcr.io/buildbarn/bb-browser:latest",
      replicas: 3,
      configMapName: "buildbarn-config",
      ingressHost: "bb-browser.example.com",
    },
  },
] as const;

/** A resource that must be refused, and the field that the refusal must name. */
export interface BadResource {
  readonly kind: AnyKind;
  readonly why: string;
  readonly field: string;
  readonly name?: string;
  readonly spec?: object;
}

const blocks = (own: object) => ({ cas: { blocks: own } });
const workers = [{ name: "linux" }];

/** Every way of getting it wrong that the definitions should catch. */
export const badResources: readonly BadResource[] = [
  {
    kind: BuildbarnScheduler,
    why: "two schedulers with one queue",
    field: "spec.replicas",
    spec: { replicas: 2 },
  },
  {
    kind: BuildbarnScheduler,
    why: "an unknown type of Service",
    field: "spec.serviceType",
    spec: { serviceType: "Public" },
  },
  {
    kind: BuildbarnScheduler,
    why: "an invalid host",
    field: "spec.ingressHost",
    spec: { ingressHost: "Not A Host" },
  },
  {
    kind: BuildbarnScheduler,
    why: "a default timeout above the maximum",
    field: "spec.executionTimeout.default",
    spec: { executionTimeout: { default: "3h", maximum: "2h" } },
  },
  {
    kind: BuildbarnScheduler,
    why: "a timeout of zero",
    field: "spec.noWorkersTimeout",
    spec: { noWorkersTimeout: "0s" },
  },
  {
    kind: BuildbarnScheduler,
    why: "an unknown release",
    field: "spec.version",
    spec: { version: "2019-01" },
  },
  {
    kind: BuildbarnScheduler,
    why: "an instance name with blanks",
    field: "spec.instanceNamePrefix",
    spec: { instanceNamePrefix: "a b" },
  },
  ...[
    "blobs",
    "team/uploads",
    "actions/a",
    "a/actionResults/b",
    "operations",
    "capabilities",
    "compressed-blobs",
  ].map((instanceNamePrefix) => ({
    kind: BuildbarnScheduler,
    why: `an instance name with which no program starts, ${instanceNamePrefix}`,
    field: "spec.instanceNamePrefix",
    spec: { instanceNamePrefix },
  })),
  {
    kind: BuildbarnWorker,
    why: "an instance name with which no program starts",
    field: "spec.instanceNamePrefix",
    spec: { instanceNamePrefix: "team/blobs" },
  },
  {
    kind: BuildbarnScheduler,
    why: "a name that no Service can have",
    field: "metadata.name",
    name: "1scheduler",
  },
  {
    kind: BuildbarnFrontend,
    why: "overrides with a custom ConfigMap",
    field: "spec.configOverrides",
    spec: { configMapName: "mine", configOverrides: "{}" },
  },
  { kind: BuildbarnFrontend, why: "fewer than no replicas", field: "spec.replicas", spec: { replicas: -1 } },
  { kind: BuildbarnFrontend, why: "a set's name with dots", field: "spec.cluster", spec: { cluster: "a.b" } },
  {
    kind: BuildbarnBrowser,
    why: "a release without a known image",
    field: "spec.image",
    spec: { version: "2025-02" },
  },
  { kind: BuildbarnBrowser, why: "an image with blanks", field: "spec.image", spec: { image: "a b" } },
  {
    kind: BuildbarnWorker,
    why: "an instance that is no label",
    field: "spec.instance",
    spec: { instance: "Ubuntu 22.04" },
  },
  { kind: BuildbarnWorker, why: "no concurrency", field: "spec.concurrency", spec: { concurrency: 0 } },
  {
    kind: BuildbarnWorker,
    why: "a property of the platform twice",
    field: "spec.platform[1]",
    spec: {
      platform: [
        { name: "OSFamily", value: "linux" },
        { name: "OSFamily", value: "linux" },
      ],
    },
  },
  {
    kind: BuildbarnWorker,
    why: "a platform without properties",
    field: "spec.platform",
    spec: { platform: [] },
  },
  { kind: BuildbarnWorker, why: "a size class below zero", field: "spec.sizeClass", spec: { sizeClass: -1 } },
  {
    kind: BuildbarnWorker,
    why: "a logger of actions without a port",
    field: "spec.completedActionLoggers[0].address",
    spec: { completedActionLoggers: [{ address: "logs.example.com" }] },
  },
  {
    kind: BuildbarnWorker,
    why: "a logger of actions on a port that there is not",
    field: "spec.completedActionLoggers[0].address",
    spec: { completedActionLoggers: [{ address: "logs.example.com:65536" }] },
  },
  {
    kind: BuildbarnWorker,
    why: "an image that no registry has",
    field: "spec.runnerImage",
    spec: { runnerImage: "build\u0007er:1" },
  },
  {
    kind: BuildbarnWorker,
    why: "a cache that no number of bytes can have",
    field: "spec.inputCache.size",
    spec: { inputCache: { size: "9223372036854775808" } },
  },
  {
    kind: BuildbarnStorage,
    why: "a volume of the same kind",
    field: "spec.cas.volume.size",
    spec: { cas: { volume: { size: "99999999P" } } },
  },
  {
    kind: BuildbarnWorker,
    why: "a cache without a size",
    field: "spec.inputCache.size",
    spec: { inputCache: { size: "0" } },
  },
  { kind: BuildbarnStorage, why: "no shards", field: "spec.replicas", spec: { replicas: 0 } },
  {
    kind: BuildbarnStorage,
    why: "two new blocks in the action cache",
    field: "spec.ac.blocks.new",
    spec: { ac: { blocks: { new: 2 } } },
  },
  {
    kind: BuildbarnStorage,
    why: "101 blocks",
    field: "spec.cas.blocks",
    spec: blocks({ old: 40, current: 55, new: 3, spare: 3 }),
  },
  {
    kind: BuildbarnStorage,
    why: "blocks that do not fit the volume",
    field: "spec.cas.volume.size",
    spec: blocks({ size: "33Gi" }),
  },
  {
    kind: BuildbarnStorage,
    why: "an index that does not fit",
    field: "spec.ac.volume.size",
    spec: { ac: { index: { size: "1Gi" } } },
  },
  {
    kind: BuildbarnStorage,
    why: "an invalid size",
    field: "spec.cas.volume.size",
    spec: { cas: { volume: { size: "lots" } } },
  },
  {
    kind: BuildbarnStorage,
    why: "blocks of less than a sector, with which no shard starts",
    field: "spec.cas.blocks.size",
    spec: blocks({ size: "100K" }),
  },
  {
    kind: BuildbarnStorage,
    why: "a claim with no room for the blocks",
    field: "spec.volumeClaimTemplates",
    spec: {
      volumeClaimTemplates: [
        { metadata: { name: "cas" }, spec: { resources: { requests: { storage: "32Gi" } } } },
      ],
    },
  },
  {
    kind: BuildbarnStorage,
    why: "a claim for nothing",
    field: "spec.volumeClaimTemplates[0].metadata.name",
    spec: { volumeClaimTemplates: [{ metadata: { name: "logs" }, spec: {} }] },
  },
  {
    kind: BuildbarnStorage,
    why: "two claims of one name",
    field: "spec.volumeClaimTemplates",
    spec: {
      volumeClaimTemplates: [
        { metadata: { name: "ac" }, spec: {} },
        { metadata: { name: "ac" }, spec: {} },
      ],
    },
  },
  {
    kind: BuildbarnStorage,
    why: "a shard of no weight",
    field: "spec.weights[1]",
    spec: { weights: [1, 0] },
  },
  {
    kind: BuildbarnStorage,
    why: "more weights than shards",
    field: "spec.weights",
    spec: { weights: [1, 1, 1] },
  },
  {
    kind: BuildbarnStorage,
    why: "a drained shard that there is not",
    field: "spec.drained",
    spec: { drained: [2] },
  },
  {
    kind: BuildbarnStorage,
    why: "a shard that is drained twice",
    field: "spec.drained",
    spec: { drained: [1, 1] },
  },
  {
    kind: BuildbarnStorage,
    why: "no shard that is not drained",
    field: "spec.drained",
    spec: { drained: [0, 1] },
  },
  {
    kind: BuildbarnCluster,
    why: "a drained shard that there is not",
    field: "spec.storage.drained",
    spec: { workers, storage: { drained: [5] } },
  },
  {
    kind: BuildbarnStorage,
    why: "TLS without authorities",
    field: "spec.internalTls.configMapName",
    spec: { internalTls: { secretName: "pair" } },
  },
  {
    kind: BuildbarnStorage,
    why: "an endless hold",
    field: "spec.resharding.hold",
    spec: { resharding: { hold: "forever" } },
  },
  {
    kind: BuildbarnStorage,
    why: "an unknown deletion policy",
    field: "spec.deletionPolicy",
    spec: { deletionPolicy: "Burn" },
  },
  {
    kind: BuildbarnWorker,
    why: "fewer pods at most than at least",
    field: "spec.autoscaling.minReplicas",
    spec: { autoscaling: { minReplicas: 5, maxReplicas: 4 } },
  },
  {
    kind: BuildbarnWorker,
    why: "no pods at most",
    field: "spec.autoscaling.maxReplicas",
    spec: { autoscaling: { maxReplicas: 0 } },
  },
  {
    kind: BuildbarnWorker,
    why: "an invalid delay",
    field: "spec.autoscaling.scaleDownDelay",
    spec: { autoscaling: { maxReplicas: 4, scaleDownDelay: "0s" } },
  },
  {
    kind: BuildbarnFrontend,
    why: "client certificates without TLS",
    field: "spec.tls",
    spec: { authentication: { clientCertificates: { configMapName: "ca" } } },
  },
  {
    kind: BuildbarnFrontend,
    why: "authentication without a method",
    field: "spec.authentication",
    spec: { authentication: {} },
  },
  {
    kind: BuildbarnFrontend,
    why: "a permission without a rule",
    field: "spec.authorization",
    spec: { authorization: {} },
  },
  {
    kind: BuildbarnFrontend,
    why: "probes without a pause",
    field: "spec.probe.interval",
    spec: { probe: { interval: "0s" } },
  },
  {
    kind: BuildbarnFrontend,
    why: "probes that would keep workers from everything else",
    field: "spec.probe.interval",
    spec: { probe: { interval: "5s" } },
  },
  { kind: BuildbarnCluster, why: "no workers", field: "spec.workers", spec: { workers: [] } },
  {
    kind: BuildbarnCluster,
    why: "two workers of one name",
    field: "spec.workers[1]",
    spec: { workers: [...workers, ...workers] },
  },
  {
    kind: BuildbarnCluster,
    why: "workers that are called like another component",
    field: "spec.workers",
    spec: { workers: [{ name: "frontend" }] },
  },
  {
    kind: BuildbarnCluster,
    why: "a browser of a release that no image is known of",
    field: "spec.browser.image",
    spec: { workers, version: "2025-02", browser: {} },
  },
  {
    kind: BuildbarnCluster,
    why: "two schedulers in a set",
    field: "spec.scheduler.replicas",
    spec: { workers, scheduler: { replicas: 2 } },
  },
];

const claimOf = (accessMode: string, storage = "40Gi") => ({
  metadata: { name: "cas" },
  spec: { accessModes: [accessMode], resources: { requests: { storage } } },
});

/** Changes of volumes that shards follow. */
export const goodVolumeChanges = [
  {
    from: { cas: { volume: { storageClassName: "fast" } } },
    to: { cas: { volume: { size: "40Gi" } } },
  },
  {
    from: { volumeClaimTemplates: [claimOf("ReadWriteOnce")] },
    to: { volumeClaimTemplates: [claimOf("ReadWriteOnce", "50Gi")] },
  },
] as const;

/** A change that must be refused. */
export interface BadChange {
  readonly kind: AnyKind;
  readonly why: string;
  readonly field: string;
  readonly from: object;
  readonly to: object;
}

/** Changes that a person must not make by mistake. */
export const badChanges: readonly BadChange[] = [
  {
    kind: BuildbarnWorker,
    why: "another instance",
    field: "spec.instance",
    from: {},
    to: { instance: "debian12" },
  },
  {
    kind: BuildbarnStorage,
    why: "blocks that empty the cache",
    field: "spec.cas.blocks",
    from: {},
    to: blocks({ old: 9 }),
  },
  {
    kind: BuildbarnStorage,
    why: "an index that empties the cache",
    field: "spec.ac.index",
    from: {},
    to: { ac: { index: { size: "2Mi" } } },
  },
  {
    kind: BuildbarnStorage,
    why: "TLS for shards that have clients",
    field: "spec.internalTls",
    from: {},
    to: { internalTls: { secretName: "pair", configMapName: "authorities" } },
  },
  {
    kind: BuildbarnStorage,
    why: "another release",
    field: "spec.version",
    from: {},
    to: { version: "2025-02" },
  },
  {
    kind: BuildbarnCluster,
    why: "another release of a set",
    field: "spec.version",
    from: { workers },
    to: { version: "2025-02" },
  },
  {
    kind: BuildbarnCluster,
    why: "TLS for a set that has clients",
    field: "spec.storage.internalTls",
    from: { workers },
    to: { storage: { internalTls: { secretName: "pair", configMapName: "authorities" } } },
  },
  {
    kind: BuildbarnCluster,
    why: "a browser that loses its image",
    field: "spec.browser.image",
    from: { workers, version: "2025-02", browser: { image: "example.com/browser:1" } },
    to: { browser: { image: null } },
  },
  {
    kind: BuildbarnStorage,
    why: "a smaller volume",
    field: "spec.cas.volume.size",
    from: { cas: { volume: { size: "50Gi" } } },
    to: { cas: { volume: { size: "40Gi" } } },
  },
  {
    kind: BuildbarnStorage,
    why: "another storage class",
    field: "spec.cas.volume.storageClassName",
    from: { cas: { volume: { storageClassName: "fast" } } },
    to: { cas: { volume: { storageClassName: "slow" } } },
  },
  {
    kind: BuildbarnStorage,
    why: "a storage class for volumes of the default one",
    field: "spec.ac.volume.storageClassName",
    from: {},
    to: { ac: { volume: { storageClassName: "slow" } } },
  },
  {
    kind: BuildbarnCluster,
    why: "another storage class of a set",
    field: "spec.storage.cas.volume.storageClassName",
    from: { workers, storage: { cas: { volume: { storageClassName: "fast" } } } },
    to: { storage: { cas: { volume: { storageClassName: null } } } },
  },
  {
    kind: BuildbarnStorage,
    why: "claims of the user's own for shards that are there",
    field: "spec.volumeClaimTemplates",
    from: {},
    to: { volumeClaimTemplates: [claimOf("ReadWriteOnce")] },
  },
  {
    kind: BuildbarnStorage,
    why: "another access mode",
    field: "spec.volumeClaimTemplates",
    from: { volumeClaimTemplates: [claimOf("ReadWriteOnce")] },
    to: { volumeClaimTemplates: [claimOf("ReadWriteMany")] },
  },
  {
    kind: BuildbarnStorage,
    why: "another set",
    field: "spec.cluster",
    from: {},
    to: { cluster: "other" },
  },
];
