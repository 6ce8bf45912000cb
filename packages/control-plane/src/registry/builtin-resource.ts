import { apiVersionOf } from "@windlass/kinds";
import type { StoredForm } from "../builtin/declaration.ts";
import { declarationOf } from "../builtin/index.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, valueAt } from "../json-fields.ts";
import { type KindInfo, normalize, normalizeInSteps } from "../kinds/index.ts";
import { findUnknownFields } from "../schema/structural.ts";
import { nextTurn } from "../steps.ts";
import { selectorString } from "./label-selector.ts";
import { bucketOf, type Conversion, type Decoded, type Resource, type Scaling } from "./resource.ts";

/** Serves a kind that comes with the server. */
export function builtinResource(info: KindInfo): Resource {
  const declaration = declarationOf(info);
  const version = declaration?.versions?.[info.version];
  const strategy = version?.strategy ?? declaration?.strategy ?? {};
  const { deprecation } = strategy;
  const storedAs = version?.storedAs;
  let empty: JsonObject | undefined;
  const decodedOf = (input: JsonObject, object: JsonObject): Decoded => {
    strategy.setDefaults?.(object);
    return {
      object,
      // Computed only when the request wants warnings or errors.
      get unknown() {
        return findUnknownFields(info.schema(), input);
      },
    };
  };
  return {
    info,
    bucket: storedAs?.bucket ?? bucketOf(info.group, info.plural),
    strategy,
    hasStatus: info.subresources.some(({ name }) => name === "status"),
    selectableFields: strategy.selectableFields ?? [],
    schema: () => info.schema(),
    empty: () => {
      empty ??= normalize(info, { apiVersion: apiVersionOf(info), kind: info.kind, metadata: {} });
      return empty;
    },
    decode: (input, numbers) => decodedOf(input, normalize(info, input, "decoded", numbers)),
    decodeInSteps: function* (input, numbers) {
      const object = yield* normalizeInSteps(info, input, "decoded", numbers);
      yield nextTurn;
      return decodedOf(input, object);
    },
    settle: (object) => normalize(info, object, "stored"),
    settleInSteps: (object) => normalizeInSteps(info, object, "stored"),
    ...(info.subresources.some(({ name }) => name === "scale") ? { scale: workloadScaling } : {}),
    ...(storedAs ? { conversion: conversionBetween(info, storedAs) } : {}),
    ...(deprecation === undefined ? {} : { deprecation }),
  };
}

function conversionBetween(info: KindInfo, { stored, fromStorage, toStorage }: StoredForm): Conversion {
  return {
    fromStorage: (objects) => objects.map((object) => normalize(info, fromStorage(object), "stored")),
    toStorage: (objects) => objects.map((object) => normalize(stored, toStorage(object), "stored")),
  };
}

const workloadScaling: Scaling = {
  replicas: ["spec", "replicas"],
  get: (object) => {
    const metadata = metadataOf(object);
    const replicas = Number(valueAt(object, "spec", "replicas") ?? 0);
    const selector = valueAt(object, "spec", "selector");
    const text =
      selector !== undefined &&
      valueAt(selector, "matchLabels") === undefined &&
      valueAt(selector, "matchExpressions") === undefined
        ? Object.entries(selector as Record<string, string>)
            .map(([key, value]) => `${key}=${value}`)
            .sort()
            .join(",")
        : selectorString(selector);
    const kept: JsonObject = {};
    for (const part of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]) {
      const value = metadata[part];
      if (value !== undefined) kept[part] = value;
    }
    return {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: kept,
      spec: replicas === 0 ? {} : { replicas },
      status: {
        replicas: Number(valueAt(object, "status", "replicas") ?? 0),
        ...(text === "" ? {} : { selector: text }),
      },
    };
  },
  set: (object, scale) => {
    const spec = object.spec as JsonObject;
    spec.replicas = Number(valueAt(scale, "spec", "replicas") ?? 0);
  },
};
