import type { ObjectOf } from "@windlass/runtime";
import type { ConfigMap } from "@windlass/runtime/kinds";
import type { Frontend } from "../frontend/frontend.ts";
import { shardMapAnnotation } from "../names.ts";
import {
  authoritiesKey,
  type BuildbarnSet,
  browserConfiguration,
  type CheckedConfiguration,
  type ComponentConfiguration,
  type ComponentObject,
  checkComponent,
  frontendConfiguration,
  type OwnConfiguration,
  SetFault,
  schedulerConfiguration,
  storageConfiguration,
  workerConfiguration,
} from "../set/index.ts";

/** The configuration of a component, or why it has none. */
export interface Configured {
  readonly component: ComponentObject;
  readonly configuration: ComponentConfiguration | undefined;
  readonly hash: string | undefined;
  /** What would keep it from being rolled out. */
  readonly faults: readonly string[];
  /** What is known only once it is tried. */
  readonly unknown: string | undefined;
}

/**
 * The configuration of every component of a set, in the order in which the operator rolls them out.
 */
export function configurationsOf(
  bare: BuildbarnSet,
  configMaps: readonly ObjectOf<typeof ConfigMap>[],
): readonly Configured[] {
  const set = { ...bare, authorities: authoritiesIn(bare, configMaps) };
  const own = (component: ComponentObject) => ownConfiguration(component, configMaps);
  const authorities = ({ metadata, spec }: Frontend) => {
    const name = spec.authentication?.clientCertificates?.configMapName;
    const found = configMaps.find(
      (one) => one.metadata.name === name && one.metadata.namespace === metadata.namespace,
    );
    return found?.data?.["ca.crt"];
  };
  return [
    ...set.storages.map((one) => configured(one, () => storageConfiguration(one, set.authorities, own(one)))),
    ...set.schedulers.map((one) => configured(one, () => schedulerConfiguration(set, one, own(one)))),
    ...set.frontends.map((one) =>
      configured(one, () => frontendConfiguration(set, one, own(one), authorities(one))),
    ),
    ...set.browsers.map((one) => configured(one, () => browserConfiguration(set, one, own(one)))),
    ...set.workers.map((one) => configured(one, () => workerConfiguration(set, one, own(one)))),
  ];
}

/** What the components of a set trust, if they use TLS among themselves. */
function authoritiesIn(
  { namespace, storages: [storage] }: BuildbarnSet,
  configMaps: readonly ObjectOf<typeof ConfigMap>[],
): string | undefined {
  const name = storage?.spec.internalTls?.configMapName;
  return configMaps.find((one) => one.metadata.name === name && one.metadata.namespace === namespace)?.data?.[
    authoritiesKey
  ];
}

function configured(component: ComponentObject, build: () => ComponentConfiguration): Configured {
  try {
    const configuration = build();
    const checked: CheckedConfiguration = checkComponent(configuration);
    return {
      component,
      configuration,
      hash: checked.is === "invalid" ? undefined : checked.hash,
      faults: checked.is === "invalid" ? checked.faults : [],
      unknown: checked.is === "unknown" ? checked.why : undefined,
    };
  } catch (error) {
    if (!(error instanceof SetFault)) throw error;
    return {
      component,
      configuration: undefined,
      hash: undefined,
      faults: [error.message],
      unknown: undefined,
    };
  }
}

/** @throws SetFault */
function ownConfiguration(
  { metadata, spec }: ComponentObject,
  configMaps: readonly ObjectOf<typeof ConfigMap>[],
): OwnConfiguration | undefined {
  const { configMapName: name } = spec;
  if (name === undefined) return undefined;
  const found = configMaps.find(
    (one) => one.metadata.name === name && one.metadata.namespace === metadata.namespace,
  );
  if (!found)
    throw new SetFault(
      "ConfigMapMissing",
      `spec.configMapName: there is no ConfigMap ${JSON.stringify(name)} in the files`,
    );
  return { files: found.data ?? {}, shardMap: found.metadata.annotations?.[shardMapAnnotation] };
}

/** What people call a component. */
export function nameOf({ kind, metadata }: ComponentObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
