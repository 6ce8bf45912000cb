import type {
  ContainerInput,
  PodSpecInput,
  PodTemplateSpecInput,
  VolumeInput,
} from "@windlass/runtime/kinds";
import { internalTlsDirectory, ports } from "../configuration/index.ts";
import {
  type Component,
  configDirectory,
  configHashAnnotation,
  labelsOf,
  setLabel,
  shardClientLabel,
  shardMapAnnotation,
} from "../names.ts";
import type { ComponentObject } from "../set/index.ts";

/** The user that Buildbarn's programs run as. It owns nothing but what they keep. */
export const buildbarnUser = 65_532;

/** What a container of the Pod Security Standard `restricted` may do. */
export const restricted = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
} as const;

/** What a pod of the Pod Security Standard `restricted` runs as. */
export const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: buildbarnUser,
  runAsGroup: buildbarnUser,
  fsGroup: buildbarnUser,
  // Volumes may hold millions of files: their owner is set once.
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/** Variables of every container, for `std.extVar`. */
export const podVariables = [
  { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
] as const;

/** Where a container finds its configuration. */
export const configMount = { name: "configs", mountPath: configDirectory, readOnly: true } as const;

const certificateMount = { name: "internal-tls", mountPath: internalTlsDirectory, readOnly: true } as const;

/** The volume with a component's configuration. */
export function configVolume(configMap: string): VolumeInput {
  return { name: "configs", configMap: { name: configMap } };
}

/**
 * Probes of a program. `/-/healthy` answers from the end of start-up on, and no longer once the
 * program was terminated. It knows nothing of other programs.
 */
export function probes(port: number = ports.diagnostics) {
  const httpGet = { path: "/-/healthy", port };
  return {
    startupProbe: { httpGet, periodSeconds: 1, failureThreshold: 300 },
    readinessProbe: { httpGet, periodSeconds: 5, failureThreshold: 2 },
    livenessProbe: { httpGet, periodSeconds: 10, failureThreshold: 6, timeoutSeconds: 5 },
  } satisfies Partial<ContainerInput>;
}

/** What pods of a component mount, besides what is particular to it. */
export type PodConfiguration = Pick<TemplateInput, "configMap" | "configHash" | "shardMap" | "certificate">;

/** What a pod template is made of, besides what all have. */
export interface TemplateInput {
  readonly app: Component;
  readonly object: ComponentObject;
  /** The labels that select the pods. */
  readonly selector: Readonly<Record<string, string>>;
  readonly configMap: string;
  readonly configHash: string;
  readonly shardMap: string | undefined;
  /** The Secret with what its program shows to others of the set, if they use TLS. */
  readonly certificate: string | undefined;
  readonly containers: readonly ContainerInput[];
  /** Fields of the pod that are particular to the component. */
  readonly pod?: Partial<PodSpecInput>;
}

/** The template of a component's pods. */
export function podTemplate(input: TemplateInput): PodTemplateSpecInput {
  const { app, object, selector, configMap, configHash, shardMap, certificate } = input;
  const { containers, pod = {} } = input;
  const { imagePullSecrets, nodeSelector, tolerations, priorityClassName, securityContext } = object.spec;
  const isShardClient = app === "frontend" || app === "worker" || app === "browser";
  const { name } = object.metadata;
  return {
    metadata: {
      labels: {
        ...labelsOf(app, name, object.spec.cluster),
        ...selector,
        ...(isShardClient && { [shardClientLabel]: "true" }),
      },
      annotations: {
        [configHashAnnotation]: configHash,
        ...(shardMap !== undefined && { [shardMapAnnotation]: shardMap }),
      },
    },
    spec: {
      automountServiceAccountToken: false,
      // A Service named like a program's variable would change what its configuration sees.
      enableServiceLinks: false,
      securityContext: securityContext ?? restrictedPod,
      topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map(
        (topologyKey) => ({
          maxSkew: 1,
          topologyKey,
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: { ...selector, [setLabel]: object.spec.cluster } },
        }),
      ),
      ...(imagePullSecrets && { imagePullSecrets }),
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(priorityClassName !== undefined && { priorityClassName }),
      ...pod,
      containers: containers.map((container, index) =>
        // The first is the program that talks to others. What runs actions is not to see it.
        index === 0 && certificate !== undefined
          ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), certificateMount] }
          : container,
      ),
      volumes: [
        configVolume(configMap),
        ...(certificate === undefined
          ? []
          : [{ name: certificateMount.name, secret: { secretName: certificate } }]),
        ...(pod.volumes ?? []),
      ],
    },
  };
}

/** The container of one of Buildbarn's programs. */
export interface ProgramContainer {
  readonly name: string;
  readonly image: string;
  /** The file that the program is given. */
  readonly entry: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly resources: ContainerInput["resources"] | undefined;
  readonly mounts?: ContainerInput["volumeMounts"];
}

/** A container with probes on the diagnostics port, where its metrics are too. */
export function programContainer(input: ProgramContainer): ContainerInput {
  const { name, image, entry, resources, mounts = [] } = input;
  return {
    name,
    image,
    args: [`${configDirectory}/${entry}`],
    env: [...podVariables],
    ports: Object.entries({ ...input.ports, metrics: ports.diagnostics }).map(
      ([portName, containerPort]) => ({
        name: portName,
        containerPort,
        protocol: "TCP",
      }),
    ),
    ...probes(),
    securityContext: restricted,
    // Why a program does not start is on its standard error alone.
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...(resources && { resources }),
    volumeMounts: [configMount, ...mounts],
  };
}
