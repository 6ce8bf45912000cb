import type { JsonObject } from "../json.ts";
import { type KindInfo, normalize } from "../kinds/index.ts";
import { findUnknownFields } from "../schema/structural.ts";
import { field } from "../storage/store.ts";
import { selectorString } from "./label-selector.ts";
import { bucketOf, type Resource, type Scaling } from "./resource.ts";
import { strategyOf } from "./strategies/index.ts";

/** Serves a kind that comes with the server. */
export function builtinResource(info: KindInfo): Resource {
  const strategy = strategyOf(info);
  return {
    info,
    bucket: bucketOf(info.group, info.plural),
    strategy,
    hasStatus: info.subresources.some(({ name }) => name === "status"),
    selectableFields: [],
    schema: () => info.schema(),
    decode: (input) => {
      const object = normalize(info, input, "decoded");
      strategy.setDefaults?.(object);
      return {
        object,
        // Looked up only when somebody wants to be told.
        get unknown() {
          return findUnknownFields(info.schema(), input);
        },
      };
    },
    settle: (object) => normalize(info, object, "stored"),
    ...(info.subresources.some(({ name }) => name === "scale") ? { scale: workloadScaling } : {}),
  };
}

const workloadScaling: Scaling = {
  get: (object) => {
    const metadata = object.metadata as JsonObject;
    const replicas = Number(field(object, "spec", "replicas") ?? 0);
    const selector = field(object, "spec", "selector");
    const text =
      selector !== undefined &&
      field(selector, "matchLabels") === undefined &&
      field(selector, "matchExpressions") === undefined
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
        replicas: Number(field(object, "status", "replicas") ?? 0),
        ...(text === "" ? {} : { selector: text }),
      },
    };
  },
  set: (object, scale) => {
    const spec = object.spec as JsonObject;
    spec.replicas = Number(field(scale, "spec", "replicas") ?? 0);
  },
};
