import type { Schema } from "../schema/schema.ts";

const text: Schema = { type: "string" };
const time: Schema = { type: "string", format: "date-time" };
const integer: Schema = { type: "integer", format: "int64" };
const strings: Schema = { type: "object", additionalProperties: text };

/**
 * The merge rules of `metadata`, the same for every kind. A CRD may only narrow it, and an embedded
 * resource carries it without declaring it, so merging looks here and not at the schema.
 */
export const OBJECT_META: Schema = {
  type: "object",
  properties: {
    annotations: strings,
    creationTimestamp: time,
    deletionGracePeriodSeconds: integer,
    deletionTimestamp: time,
    finalizers: {
      type: "array",
      items: text,
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    generateName: text,
    generation: integer,
    labels: strings,
    managedFields: {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-list-type": "atomic",
    },
    name: text,
    namespace: text,
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          blockOwnerDeletion: { type: "boolean" },
          controller: { type: "boolean" },
          kind: text,
          name: text,
          uid: text,
        },
        "x-kubernetes-map-type": "atomic",
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};
