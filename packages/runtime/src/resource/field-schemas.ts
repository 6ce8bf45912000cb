import type { DurationText } from "@windlass/clock";
import { z } from "zod";

const decimal = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)";
const suffix = "([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?";

/**
 * An amount of a resource as Kubernetes writes it: `500m`, `1.5Gi`, `2`. Kept as it was written.
 *
 * @example
 * z.object({ memory: quantity().default("256Mi") })
 */
export function quantity() {
  return z.union([z.int(), z.string().regex(new RegExp(`^${decimal}${suffix}$`))]);
}

/** A whole number or a string, as in a port by number or by name, or a count or a percentage. */
export function intOrString() {
  return z.union([z.int(), z.string()]);
}

/**
 * A span of time as Go writes it: `90s`, `1h30m`, `250ms`. Its values are durations as the options
 * of Windlass take them: `requeueAfter: spec.interval`.
 *
 * @example
 * z.object({ interval: duration().default("5m") })
 */
export function duration(): z.ZodType<DurationText, DurationText> {
  const schema: z.ZodType<unknown, unknown> = z.string().regex(/^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$/);
  // What the pattern lets through is of that type.
  return schema as z.ZodType<DurationText, DurationText>;
}

/**
 * A whole Kubernetes object inside a field. The server requires its `apiVersion` and `kind`, checks
 * its metadata, and keeps all other fields.
 */
export function embeddedResource() {
  return z
    .looseObject({ apiVersion: z.string(), kind: z.string() })
    .meta({ "x-kubernetes-embedded-resource": true });
}

/**
 * An object that may be left out, and then is what its fields default to. The whole of it is the
 * default, because a server checks the rules of an object on its default before it fills in fields.
 *
 * @throws ZodError if a field of the object has no default, and may not be left out
 * @example
 * z.object({ scaling: filled(z.object({ min: z.int32().default(1), max: z.int32().default(3) })) })
 */
export function filled<S extends z.ZodObject>(schema: S): z.ZodDefault<S> {
  // What a schema gives out is what its default may be, which the compiler cannot know.
  return schema.default(schema.parse({}) as z.util.NoUndefined<z.output<S>>);
}
