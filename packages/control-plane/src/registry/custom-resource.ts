import { applyScale, replicasPath, scaleOf } from "../crd/scale.ts";
import type { ServedKind } from "../crd/served-kinds.ts";
import type { JsonObject } from "../json.ts";
import { type KindInfo, type SubresourceInfo, storageVersionHash } from "../kinds/index.ts";
import type { Patterns } from "../patterns/index.ts";
import { finish, nextTurn } from "../steps.ts";
import { bucketOf, type Conversion, type Resource } from "./resource.ts";
import { customStrategy } from "./strategy.ts";

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/** What is left to do with objects of a definition that is being deleted. */
const terminatingVerbs = ["delete", "deletecollection", "get", "list", "watch"];
const subresourceVerbs = ["get", "patch", "update"];

/** The state of a definition, as far as its objects are concerned. */
export interface DefinitionState {
  readonly isTerminating: boolean;
}

/** What discovery, OpenAPI and routing know of a custom resource. */
export function customKind(
  served: ServedKind,
  storage: ServedKind,
  { isTerminating }: DefinitionState,
): KindInfo {
  const { group, version, kind } = served;
  const subresources: SubresourceInfo[] = [];
  if (served.subresources.status) {
    subresources.push({ name: "status", kind: { group, version, kind }, verbs: subresourceVerbs });
  }
  if (served.subresources.scale) {
    subresources.push({
      name: "scale",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      verbs: subresourceVerbs,
    });
  }
  return {
    group,
    version,
    kind,
    plural: served.plural,
    singular: served.singular,
    namespaced: served.namespaced,
    shortNames: served.shortNames,
    categories: served.categories,
    verbs,
    ...(isTerminating ? { listedVerbs: terminatingVerbs } : {}),
    subresources,
    listKind: served.listKind,
    origin: "custom",
    printerColumns: served.printerColumns,
    selectableFields: served.selectableFields,
    storageVersionHash: storageVersionHash({ group, version: storage.version, kind }),
    schema: () => served.schema.schema,
  };
}

/** Serves one version of a custom resource. */
export function customResource(
  info: KindInfo,
  served: ServedKind,
  conversion: Conversion | undefined,
  patterns: Patterns,
  { isTerminating }: DefinitionState,
): Resource {
  const { schema } = served;
  const scale = served.subresources.scale;
  return {
    info,
    bucket: bucketOf(info.group, info.plural),
    strategy: customStrategy,
    hasStatus: served.subresources.status,
    selectableFields: served.selectableFields,
    schema: () => schema.schema,
    decode: (object) => {
      const unknown = schema.prune(object);
      schema.applyDefaults(object);
      return { object, unknown };
    },
    decodeInSteps: function* (object) {
      const unknown = yield* schema.pruneInSteps(object);
      yield nextTurn;
      schema.applyDefaults(object);
      return { object, unknown };
    },
    // A null that is left of a removed or null-applied field is refused by validation.
    decodeApplied: (object) => {
      schema.prune(object, { nulls: "kept" });
      schema.applyDefaults(object);
      return object;
    },
    ...(isTerminating
      ? { refusesCreates: "create not allowed while custom resource definition is terminating" }
      : {}),
    validate: (object: JsonObject, live, subresource) =>
      finish(
        served.validate(patterns.matcher(), object, live, subresource === "status" ? "status" : undefined),
      ),
    ...(conversion ? { conversion } : {}),
    ...(scale
      ? {
          scale: {
            replicas: replicasPath(scale),
            get: (object: JsonObject, unset?: number) => scaleOf(object, scale, unset),
            set: (object: JsonObject, wanted: JsonObject) => applyScale(object, scale, wanted),
          },
        }
      : {}),
    ...(served.deprecationWarning === undefined ? {} : { deprecation: served.deprecationWarning }),
  };
}
