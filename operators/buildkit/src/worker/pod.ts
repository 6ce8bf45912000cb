import { createHash } from "node:crypto";
import { child } from "@windlass/runtime";
import { type ContainerInput, Pod, type PodSpecInput } from "@windlass/runtime/kinds";
import { buildkitdToml, registryCaFolder } from "../buildkitd/config.ts";
import {
  cacheVolumeName,
  poolLabel,
  poolNames,
  workerLabel,
  workerPort,
  workerTlsSecretName,
} from "../names.ts";
import { persistentOf } from "../pool/cache-slots.ts";
import { buildkitdContainer } from "../pool/pod-overrides.ts";
import type { Pool } from "../pool/pool.ts";
import { quantityOf } from "../quantity.ts";
import { spanMs } from "../span.ts";
import { profiles } from "./profiles.ts";
import { workerResources } from "./sizes.ts";

/**
 * Keep autoscalers of nodes from taking a worker away. Only while a client has it: idle workers
 * must not hold nodes.
 */
export const keepAnnotations = {
  "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
  "karpenter.sh/do-not-disrupt": "true",
} as const;

/** On a pod: the hash of what it was made from. */
export const configHashAnnotation = "buildkit.smrt-devops.net/config-hash";

const certsFolder = "/certs";
const configFolder = "/etc/buildkit";
/** How long a pod that must go is given after its builds were waited for. */
export const FORCED_GRACE_SECONDS = 30;

/** Which worker a pod is for. */
export interface PodInit {
  readonly name: string;
  readonly slot: number;
}

/**
 * The hash of all that a worker's pod is made from. A worker with another is replaced when it is
 * idle.
 */
export function configHashOf(pool: Pool): string {
  const init = { name: "worker", slot: 0 };
  const parts = [podSpec(pool, init), pool.spec.podTemplate.metadata, workerToml(pool)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

/** buildkitd.toml for a pool's workers. */
export function workerToml({ spec }: Pool): string {
  const volume = persistentOf(spec);
  const limit = workerResources(spec).limits?.["ephemeral-storage"];
  const size = volume?.size ?? limit;
  return buildkitdToml({ spec, diskBytes: size === undefined ? undefined : quantityOf(size) });
}

/** The pod of a worker. It is made once: a pod cannot change. */
export function podFor(pool: Pool, init: PodInit) {
  const { labels, annotations } = pool.spec.podTemplate.metadata;
  const metadata = {
    name: init.name,
    labels: { ...labels, ...workerPodLabels(pool.metadata.name) },
    annotations: { ...annotations, [configHashAnnotation]: configHashOf(pool) },
  };
  return child(Pod, { metadata, spec: podSpec(pool, init) }, { update: "never" });
}

/** The labels of all workers' pods of a pool. */
export function workerPodLabels(pool: string) {
  return {
    "app.kubernetes.io/name": "buildkit-worker",
    "app.kubernetes.io/managed-by": "buildkit-operator",
    [poolLabel]: pool,
    [workerLabel]: "true",
  };
}

function podSpec(pool: Pool, { name, slot }: PodInit): PodSpecInput {
  const { spec } = pool;
  const profile = profiles[spec.profile];
  const {
    containers = [],
    initContainers = [],
    volumes = [],
    securityContext,
    ...overrides
  } = spec.podTemplate.spec;
  const own = containers.find((one) => one.name === buildkitdContainer);
  const others = containers.filter((one) => one.name !== buildkitdContainer);
  const first = [...volumeOwner(pool, slot), ...initContainers];
  return {
    // buildkitd needs nothing of the API server.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...profile.pod,
    ...overrides,
    ...nodesFor(spec),
    ...((profile.pod.securityContext ?? securityContext) && {
      securityContext: { ...profile.pod.securityContext, ...securityContext },
    }),
    // The daemon's state dies with it. A worker is replaced, never restarted.
    restartPolicy: "Never",
    terminationGracePeriodSeconds:
      Math.ceil(spanMs(spec.scaling.drainTimeout, "spec.scaling.drainTimeout") / 1_000) +
      FORCED_GRACE_SECONDS,
    ...(first.length > 0 && { initContainers: first }),
    containers: [mergedContainer(containerFor(pool), own), ...others],
    volumes: [...volumesFor(pool, name, slot), ...volumes],
  };
}

/** Which nodes workers run on: a daemon builds for its node's architecture. */
function nodesFor({ platform, podTemplate }: Pool["spec"]): Pick<PodSpecInput, "nodeSelector"> {
  if (platform === undefined) return {};
  const [os = "", architecture = ""] = platform.split("/");
  const own = { "kubernetes.io/os": os, "kubernetes.io/arch": architecture };
  return { nodeSelector: { ...podTemplate.spec.nodeSelector, ...own } };
}

function containerFor({ spec }: Pool): ContainerInput {
  const profile = profiles[spec.profile];
  const answers = { exec: { command: ["buildctl", "--addr", profile.socket, "debug", "workers"] } };
  const provisionSeconds = spanMs(spec.scaling.provisionTimeout, "spec.scaling.provisionTimeout") / 1_000;
  return {
    name: buildkitdContainer,
    image: spec.buildkitImage ?? profile.image,
    args: [
      `--addr=${profile.socket}`,
      `--addr=tcp://0.0.0.0:${workerPort}`,
      `--config=${configFolder}/buildkitd.toml`,
      `--root=${profile.stateFolder}`,
      `--tlscacert=${certsFolder}/ca.crt`,
      `--tlscert=${certsFolder}/tls.crt`,
      `--tlskey=${certsFolder}/tls.key`,
      ...profile.args,
    ],
    ports: [{ name: "buildkit", containerPort: workerPort, protocol: "TCP" }],
    resources: workerResources(spec),
    ...profile.container,
    // There is no liveness probe: a daemon that is busy building may not answer, and must not be
    // killed for it.
    startupProbe: {
      ...answers,
      periodSeconds: 1,
      timeoutSeconds: 5,
      failureThreshold: Math.max(60, Math.ceil(provisionSeconds)),
    },
    // Once it has answered it is enough that a process listens: a command in the container, every
    // few seconds in each of many idle workers, would keep the node busier than builds do. Whether
    // it still answers is asked by the operator.
    readinessProbe: {
      tcpSocket: { port: workerPort },
      periodSeconds: 10,
      timeoutSeconds: 10,
      failureThreshold: 3,
    },
    // A daemon that gets SIGTERM aborts its builds. A build holds a connection, so those are
    // waited for.
    lifecycle: { preStop: { exec: { command: ["sh", "-c", waitForConnections] } } },
    env: environmentFor(spec),
    volumeMounts: [
      { name: "config", mountPath: configFolder, readOnly: true },
      { name: "certs", mountPath: certsFolder, readOnly: true },
      { name: "state", mountPath: profile.stateFolder },
      ...spec.registries
        .filter(({ caSecret }) => caSecret !== undefined)
        .map(({ host }, index) => ({
          name: `registry-ca-${index}`,
          mountPath: registryCaFolder(host),
          readOnly: true,
        })),
    ],
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

/**
 * Gives a cache volume to the user that buildkitd runs as. `fsGroup` does so for most kinds of
 * volumes, and not for those that are folders of a node or of an NFS server.
 */
function volumeOwner({ spec }: Pool, slot: number): readonly ContainerInput[] {
  const { user, image, stateFolder } = profiles[spec.profile];
  const persistent = persistentOf(spec);
  if (user === undefined || persistent === undefined || slot >= persistent.maxVolumes) return [];
  const small = { cpu: "10m", memory: "16Mi" };
  return [
    {
      name: "volume-owner",
      image: spec.buildkitImage ?? image,
      command: ["chown", `${user}:${user}`, stateFolder],
      resources: { requests: small, limits: { memory: "64Mi" } },
      securityContext: {
        runAsUser: 0,
        runAsNonRoot: false,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"], add: ["CHOWN"] },
      },
      volumeMounts: [{ name: "state", mountPath: stateFolder }],
    },
  ];
}

/**
 * Waits while there are established connections (01) to the worker's port, as the kernel lists
 * them.
 */
const portHex = workerPort.toString(16).toUpperCase().padStart(4, "0");
const waitForConnections = `while cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':${portHex} [0-9A-F]*:[0-9A-F]* 01 '; do sleep 1; done`;

function environmentFor({ cache }: Pool["spec"]) {
  const secrets = cache.backends.flatMap(({ s3 }) => s3?.credentialsSecret ?? []);
  const [name] = secrets;
  return name === undefined
    ? []
    : ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map((key) => ({
        name: key,
        valueFrom: { secretKeyRef: { name, key } },
      }));
}

function volumesFor({ metadata, spec }: Pool, worker: string, slot: number) {
  const { name } = metadata;
  const persistent = persistentOf(spec);
  const state =
    persistent && slot < persistent.maxVolumes
      ? { persistentVolumeClaim: { claimName: cacheVolumeName(name, slot) } }
      : { emptyDir: {} };
  return [
    { name: "config", configMap: { name: poolNames(name).config } },
    { name: "certs", secret: { secretName: workerTlsSecretName(worker) } },
    { name: "state", ...state },
    ...spec.registries.flatMap(({ caSecret }, index) =>
      caSecret === undefined ? [] : [{ name: `registry-ca-${index}`, secret: { secretName: caSecret } }],
    ),
  ];
}

/**
 * The daemon's container with what a person set of it. Lists are joined; what they name themselves
 * is theirs.
 */
function mergedContainer(base: ContainerInput, own: Partial<ContainerInput> | undefined): ContainerInput {
  if (!own) return base;
  const { env = [], volumeMounts = [], args = [], ...rest } = own;
  const named = <T, K extends keyof T>(key: K, first: readonly T[], second: readonly T[]) => [
    ...first.filter((one) => second.every((other) => other[key] !== one[key])),
    ...second,
  ];
  return {
    ...base,
    ...rest,
    args: [...(base.args ?? []), ...args],
    env: named("name", base.env ?? [], env),
    volumeMounts: named("mountPath", base.volumeMounts ?? [], volumeMounts),
  };
}
