import { goTypes } from "@windlass/kinds/go-types";
import { NullableFields } from "../../packages/runtime/src/resource/typegen/nullable-fields.ts";

/** Which fields a server may return as null, by the Go types. */
export const nullable: NullableFields = new NullableFields(goTypes);

/** The fields of an object that are null, such as `core.v1.PodCondition.lastProbeTime`. */
export function nullsIn(value: unknown, type: string): string[] {
  const { id, local } = split(type);
  const fields = goTypes.packages[id]?.types[local];
  if (typeof fields === "string") return nullsOf(value, fields, id);
  if (fields === undefined || !isObject(value)) return [];
  return fields.flatMap(([name, expression, flags]) => {
    if (flags.includes("i")) return nullsOf(value, expression, id);
    const held = value[name];
    return held === null ? [`${type}.${name}`] : nullsOf(held, expression, id);
  });
}

function nullsOf(value: unknown, expression: string, id: string): string[] {
  if (value === undefined) return [];
  const [, item] = /^(?:\[\]|map\[[^\]]+\])(.+)$/.exec(expression) ?? [];
  if (item !== undefined)
    return (isObject(value) ? Object.values(value) : []).flatMap((one) => nullsOf(one, item, id));
  const bare = expression.replace(/^\*/, "");
  return bare === expression
    ? nullsIn(value, bare.includes(".") ? bare : `${id}.${bare}`)
    : nullsOf(value, bare, id);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function split(name: string): { readonly id: string; readonly local: string } {
  const dot = name.lastIndexOf(".");
  return { id: name.slice(0, dot), local: name.slice(dot + 1) };
}
