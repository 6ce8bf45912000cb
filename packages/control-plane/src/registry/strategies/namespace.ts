import { isObject, type JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";

function finalizersOf(object: JsonObject): readonly unknown[] {
  const spec = object.spec;
  const finalizers = isObject(spec) ? spec.finalizers : undefined;
  return Array.isArray(finalizers) ? finalizers : [];
}

/** A namespace goes in two steps: it is Terminating until whoever empties it takes its name off `spec.finalizers`. */
export const namespace: Strategy = {
  setDefaults: (object) => {
    const metadata = (isObject(object.metadata) ? object.metadata : {}) as JsonObject;
    const name = metadata.name;
    if (typeof name === "string" && name !== "") {
      metadata.labels = {
        ...(isObject(metadata.labels) ? metadata.labels : {}),
        "kubernetes.io/metadata.name": name,
      };
      object.metadata = metadata;
    }
  },
  prepareCreate: (object) => {
    object.spec = { finalizers: ["kubernetes"] };
    object.status = { phase: "Active" };
  },
  prepareUpdate: (next, live, { subresource }) => {
    if (subresource === "finalize") {
      next.status = live.status as JsonObject;
      return;
    }
    // Only the finalize subresource may change what keeps a namespace there.
    next.spec = { ...(next.spec as JsonObject), finalizers: finalizersOf(live) as string[] };
  },
  heldBack: (object) => finalizersOf(object).length > 0,
  onDeletion: (object) => {
    object.status = { ...(object.status as JsonObject), phase: "Terminating" };
  },
};
