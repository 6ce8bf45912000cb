import type { Random } from "../../../packages/clock/src/index.ts";
import type { Json, JsonObject } from "../../../packages/control-plane/src/json.ts";
import type { Schema } from "../../../packages/control-plane/src/schema/schema.ts";

/** Draws from a seeded sequence, so that a run can be played again. */
export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.chance(probability));
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.#random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}

const NAMES = ["a", "b", "c", "d", "e"];

/** A structural schema for a `spec`, covering every way a CRD can say how lists and maps merge. */
export function randomSchema(draw: Draw, depth = 3): Schema {
  const properties: { [name: string]: Schema } = {};
  for (const name of NAMES) properties[name] = randomNode(draw, depth);
  const schema: Schema = { type: "object", properties };
  if (draw.chance(0.15)) schema["x-kubernetes-map-type"] = draw.pick(["atomic", "granular"] as const);
  if (draw.chance(0.1)) schema["x-kubernetes-preserve-unknown-fields"] = true;
  return schema;
}

function randomScalar(draw: Draw): Schema {
  const schema: Schema = draw.pick<Schema>([
    { type: "string" },
    { type: "string" },
    { type: "integer" },
    { type: "boolean" },
    { type: "number" },
    { "x-kubernetes-int-or-string": true },
    { type: "string", format: "date-time" },
  ]);
  return draw.chance(0.2) ? { ...schema, nullable: true } : { ...schema };
}

function randomNode(draw: Draw, depth: number): Schema {
  if (depth === 0) return randomScalar(draw);
  const nullable = draw.chance(0.2) ? { nullable: true } : {};
  switch (draw.below(10)) {
    case 0:
    case 1:
      return { ...randomSchema(draw, depth - 1), ...nullable };
    case 2:
      return {
        type: "object",
        additionalProperties: draw.chance(0.5) ? { type: "string" } : randomSchema(draw, depth - 1),
        ...nullable,
        ...(draw.chance(0.3) ? { "x-kubernetes-map-type": "atomic" as const } : {}),
      };
    case 3:
      return {
        type: "array",
        items: draw.chance(0.5) ? { type: "string" } : randomSchema(draw, depth - 1),
        ...nullable,
        ...(draw.chance(0.5) ? { "x-kubernetes-list-type": "atomic" as const } : {}),
      };
    case 4:
      return {
        type: "array",
        items: { type: draw.pick(["string", "integer"] as const) },
        "x-kubernetes-list-type": "set",
        ...nullable,
      };
    case 5:
    case 6:
      return { ...randomMapList(draw, depth), ...nullable };
    case 7:
      if (draw.chance(0.3)) {
        return {
          type: "object",
          properties: { spec: randomSchema(draw, depth - 1) },
          "x-kubernetes-embedded-resource": true,
        };
      }
      return draw.chance(0.5)
        ? { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...nullable }
        : { "x-kubernetes-preserve-unknown-fields": true, ...nullable };
    default:
      return randomScalar(draw);
  }
}

function randomMapList(draw: Draw, depth: number): Schema {
  const keys = draw.chance(0.5) ? ["k"] : ["k", "p"];
  const item = randomSchema(draw, depth - 1);
  delete item["x-kubernetes-preserve-unknown-fields"];
  item.properties = {
    ...item.properties,
    k: { type: draw.pick(["string", "integer"] as const) },
    ...(keys.length === 2 ? { p: { type: "string", default: "TCP" } } : {}),
  };
  item.required = ["k"];
  return {
    type: "array",
    items: item,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
  };
}

/**
 * A value that fits the schema, drawn from so few that managers often agree, disagree and overlap.
 */
export function randomValue(draw: Draw, schema: Schema, density: number): Json {
  if (schema.nullable && draw.chance(0.1)) return null;
  if (schema["x-kubernetes-int-or-string"]) return draw.pick<Json>(["x", 1, 2]);
  switch (schema.type) {
    case "string":
      if (schema.format === "date-time") return draw.pick(["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]);
      return draw.pick(["x", "y", "<z>", ""]);
    case "integer":
      return draw.pick([0, 1, 10, 9]);
    case "number":
      return draw.pick([0, 1.5, 2]);
    case "boolean":
      return draw.chance(0.5);
    case "array":
      return randomList(draw, schema, density);
    case "object":
      return randomObject(draw, schema, density);
    default:
      return randomFree(draw, 2);
  }
}

function randomList(draw: Draw, schema: Schema, density: number): Json[] {
  const items = schema.items as Schema;
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return draw.shuffled(
        draw.some<Json>(items.type === "integer" ? [1, 2, 10, 9] : ["x", "y", "z", "&"], 0.5),
      );
    case "map": {
      const keys = items.properties?.k?.type === "integer" ? [1, 2, 10] : ["1", "2", "é"];
      const chosen = draw.shuffled(draw.some<Json>(keys, 0.5));
      return chosen.map((k) => {
        const item = randomObject(draw, items, density);
        item.k = k;
        if (items.properties?.p) {
          delete item.p;
          if (draw.chance(0.5)) item.p = draw.pick(["TCP", "UDP"]);
        }
        return item;
      });
    }
    default:
      return Array.from({ length: draw.below(3) }, () => randomValue(draw, items, density));
  }
}

function randomObject(draw: Draw, schema: Schema, density: number): JsonObject {
  const result: JsonObject = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (draw.chance(density)) result[name] = randomValue(draw, property, density);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const name of draw.some(["m", "n", "o.p/q"], density)) {
      result[name] = randomValue(draw, schema.additionalProperties, density);
    }
  }
  if (schema["x-kubernetes-embedded-resource"]) {
    const labels = strings(draw, ["l1", "l2"]);
    const finalizers = draw.some(["x.io/a", "x.io/b"], 0.6);
    Object.assign(result, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: draw.pick(["p", "q"]), ...draw.pick<JsonObject>([{}, { labels }, { finalizers }]) },
    });
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] && draw.chance(0.5)) {
    result[draw.pick(["u", "v"])] = randomFree(draw, 2);
  }
  return result;
}

function randomFree(draw: Draw, depth: number): Json {
  switch (draw.below(depth > 0 ? 6 : 3)) {
    case 0:
      return "x";
    case 1:
      return draw.pick([1, 2]);
    case 2:
      return draw.pick<Json>([true, null, {}, []]);
    case 3:
      return Array.from({ length: draw.below(3) }, () => randomFree(draw, depth - 1));
    default:
      return Object.fromEntries(
        draw.some(["q", "r"], 0.7).map((name) => [name, randomFree(draw, depth - 1)]),
      );
  }
}

/**
 * An object that exists, so that no garbage collector takes what it owns away in the middle of a
 * sequence.
 */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** Labels, annotations, finalizers and owners in few variants. */
export function randomMetadata(draw: Draw, owners: readonly Owner[]): JsonObject {
  const metadata: JsonObject = {};
  if (draw.chance(0.3)) metadata.labels = strings(draw, ["l1", "l2"]);
  if (draw.chance(0.3)) metadata.annotations = strings(draw, ["n1", "n2"]);
  if (draw.chance(0.2)) metadata.finalizers = draw.shuffled(draw.some(["x.io/a", "x.io/b"], 0.6));
  if (draw.chance(0.2)) {
    metadata.ownerReferences = draw.some(owners, 0.6).map(({ name, uid }) => ({
      apiVersion: "v1",
      kind: "Namespace",
      name,
      uid,
      ...(draw.chance(0.5) ? { blockOwnerDeletion: draw.chance(0.5) } : {}),
    }));
  }
  return metadata;
}

function strings(draw: Draw, names: readonly string[]): JsonObject {
  return Object.fromEntries(draw.some(names, 0.6).map((name) => [name, draw.pick(["1", "2"])]));
}
