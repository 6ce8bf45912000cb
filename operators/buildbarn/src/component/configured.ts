import {
  type Child,
  child,
  condition,
  type KubernetesObject,
  type ObjectOf,
  type WantedCondition,
} from "@windlass/runtime";
import { ConfigMap, type Pod } from "@windlass/runtime/kinds";
import {
  type Component,
  configHashAnnotation,
  configMapName,
  labelsOf,
  shardMapAnnotation,
} from "../names.ts";
import {
  type ComponentConfiguration,
  type ComponentObject,
  type ConfigurationChecks,
  type OwnConfiguration,
  SetFault,
} from "../set/index.ts";
import type { PodConfiguration } from "./pod.ts";
import { wantedOf } from "./status.ts";

/** A configuration that was checked, as a ConfigMap. */
export interface Configured {
  readonly is: "configured";
  readonly configuration: ComponentConfiguration;
  readonly hash: string;
  /** The name of the ConfigMap that pods mount. */
  readonly configMap: string;
  readonly current: Child<typeof ConfigMap>;
  /** It and those of earlier configurations. */
  readonly configMaps: readonly Child<typeof ConfigMap>[];
  /** `ConfigValid`. */
  readonly condition: WantedCondition;
}

/** What pods mount that have a configuration. */
export function podConfiguration(
  { configMap, hash, configuration }: Configured,
  certificate: string | undefined,
): PodConfiguration {
  return { configMap, configHash: hash, shardMap: configuration.shardMap, certificate };
}

/** What there is no configuration for: pods are left as they are. */
export interface Refused {
  readonly is: "refused";
  /** `ConfigValid`. */
  readonly condition: WantedCondition;
}

/** What the configuration of a component is made from. */
export interface ConfigureInput {
  readonly app: Component;
  readonly object: ComponentObject;
  /** The user's own ConfigMap, if the component names one and it is there. */
  readonly own: ObjectOf<typeof ConfigMap> | undefined;
  /** The ConfigMaps that were made for the component before: their metadata is enough. */
  readonly made: readonly KubernetesObject[];
  /** The pods of the component. */
  readonly pods: readonly ObjectOf<typeof Pod>[];
  readonly checks: ConfigurationChecks;
  /** @throws SetFault */
  readonly build: (own: OwnConfiguration | undefined) => ComponentConfiguration;
}

/** How many configurations are kept besides those that pods use. */
const keptRevisions = 3;

/**
 * Writes a component's configuration, and evaluates it as its programs would, before any pod uses
 * it.
 */
export async function configure(input: ConfigureInput): Promise<Configured | Refused> {
  const { app, object, build, checks } = input;
  try {
    const configuration = build(ownConfiguration(input));
    const { configMapName: ownName, configOverrides } = object.spec;
    const isGenerated = ownName === undefined && configOverrides === undefined;
    const checked = await checks.check(configuration, isGenerated ? "operator" : "user");
    if (checked.is === "invalid") return refused("ConfigInvalid", checked.faults.join("; "));
    // Files that are no text: programs may read them, and none of them is jsonnet.
    const binaryData = ownName === undefined ? undefined : input.own?.binaryData;
    const hash = binaryData === undefined ? checked.hash : wantedOf([checked.hash, binaryData]);
    const { name } = object.metadata;
    const current = child(
      ConfigMap,
      {
        metadata: {
          name: configMapName(name, hash),
          labels: labelsOf(app, name, object.spec.cluster),
          annotations: {
            [configHashAnnotation]: hash,
            ...(configuration.shardMap !== undefined && { [shardMapAnnotation]: configuration.shardMap }),
          },
        },
        immutable: true,
        data: configuration.files,
        ...(binaryData && { binaryData }),
      },
      { onImmutable: "replace" },
    );
    return {
      is: "configured",
      configuration,
      hash,
      configMap: configMapName(name, hash),
      current,
      configMaps: [current, ...earlier(input, hash)],
      condition:
        checked.is === "valid"
          ? condition("ConfigValid", true, "Evaluated", "its programs take it")
          : condition("ConfigValid", "Unknown", "NotEvaluated", checked.why),
    };
  } catch (error) {
    if (!(error instanceof SetFault)) throw error;
    return refused(error.reason, error.message);
  }
}

function refused(reason: string, message: string): Refused {
  return { is: "refused", condition: condition("ConfigValid", false, reason, message) };
}

/** The user's own ConfigMap. @throws SetFault if it is not there. */
function ownConfiguration({ object, own }: ConfigureInput): OwnConfiguration | undefined {
  const { configMapName: name } = object.spec;
  if (name === undefined) return undefined;
  if (!own)
    throw new SetFault(
      "ConfigMapMissing",
      `spec.configMapName: there is no ConfigMap ${JSON.stringify(name)}`,
    );
  return { files: own.data ?? {}, shardMap: own.metadata.annotations?.[shardMapAnnotation] };
}

/**
 * Those of earlier configurations that stay: the last ones, and those that a pod would need to
 * start again.
 */
function earlier({ made, pods }: ConfigureInput, hash: string): readonly Child<typeof ConfigMap>[] {
  const used = new Set(pods.map(({ metadata }) => metadata.annotations?.[configHashAnnotation]));
  const hashIn = ({ metadata }: KubernetesObject) => metadata.annotations?.[configHashAnnotation];
  return made
    .filter((one) => hashIn(one) !== undefined && hashIn(one) !== hash)
    .toSorted((a, b) => timeOf(b) - timeOf(a) || (a.metadata.name < b.metadata.name ? -1 : 1))
    .filter((one, index) => index < keptRevisions - 1 || used.has(hashIn(one)))
    .map(({ metadata: { name } }) => child(ConfigMap, { metadata: { name } }, { update: "never" }));
}

function timeOf({ metadata }: KubernetesObject): number {
  return Date.parse(metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
}
