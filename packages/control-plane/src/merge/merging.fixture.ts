import type { Json, JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { decodeFields } from "./fields-v1.ts";
import { managedFieldsOf } from "./managed-fields.ts";
import { elementText } from "./path-element.ts";

const text: Schema = { type: "string" };

/** A kind with one of every sort of list and map. */
export const SAMPLE: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        name: text,
        port: { "x-kubernetes-int-or-string": true },
        when: { type: "string", format: "date-time" },
        maybe: { type: "string", nullable: true },
        plain: { type: "array", items: text },
        set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        map: {
          type: "array",
          items: {
            type: "object",
            properties: { k: text, p: { type: "string", default: "TCP" }, v: { type: "integer" } },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k", "p"],
        },
        labels: { type: "object", additionalProperties: text },
        whole: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
        struct: { type: "object", properties: { a: text, b: text } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        pod: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          properties: { spec: { type: "object" } },
        },
      },
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
};

export const VERSION = "example.com/v1";
export const T1 = "2026-01-01T00:00:01Z";
export const T2 = "2026-01-01T00:00:02Z";
export const T3 = "2026-01-01T00:00:03Z";

/** An object with this spec, or with none when it has no members. */
export function sample(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  const object = { apiVersion: VERSION, kind: "Sample", metadata: { name: "s", ...metadata } };
  return Object.keys(spec).length === 0 ? object : { ...object, spec };
}

/** Who owns what, as `manager operation: path path …` with the time at the end. */
export function owners(object: JsonObject): string[] {
  const entries = managedFieldsOf(object);
  return (Array.isArray(entries) ? (entries as JsonObject[]) : []).map((entry) => {
    const paths = [...decodeFields(entry.fieldsV1 as Json).paths()].map((path) =>
      path.map(elementText).join(""),
    );
    const { manager, operation, subresource, time } = entry as { [name: string]: string };
    const who = `${manager} ${operation}${subresource === undefined ? "" : `/${subresource}`}`;
    return `${who}: ${paths.toSorted().join(" ")} @${time?.slice(-3, -1) ?? "never"}`;
  });
}
