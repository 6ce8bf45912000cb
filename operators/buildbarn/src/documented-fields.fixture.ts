import { kinds } from "./kinds.ts";

/** A field of a spec, as a README should have it. */
export interface SpecField {
  /** `autoscaling.maxReplicas`, or `platform[].name`. */
  readonly path: string;
  /** As it is written in YAML; undefined if there is none. */
  readonly default: string | undefined;
  readonly description: string;
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Kubernetes' own types: documented there. */
const foreign =
  /^(resources|runnerResources|imagePullSecrets|tolerations|securityContext|volumeClaimTemplates)$/;

/** The fields of each kind, by its name. Those of a set's components are under their own kinds. */
export function specFields(): ReadonlyMap<string, readonly SpecField[]> {
  return new Map(
    kinds.map((kind) => {
      const [version] = kind.crd().spec.versions;
      const schema = version?.schema?.openAPIV3Schema as Schema | undefined;
      const isSet = kind.kind === "BuildbarnCluster";
      return [kind.kind, fieldsIn(schema?.properties?.spec ?? {}, "", isSet ? 1 : 9)];
    }),
  );
}

function fieldsIn({ properties = {} }: Schema, prefix: string, depth: number): readonly SpecField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const own = foreign.test(name) || depth <= 1 ? [] : within(schema, path, depth - 1);
    return own.length > 0
      ? own
      : [{ path, default: defaultOf(schema), description: schema.description ?? "" }];
  });
}

function within(schema: Schema, path: string, depth: number): readonly SpecField[] {
  if (schema.type === "array") return fieldsIn(schema.items ?? {}, `${path}[].`, depth);
  return fieldsIn(schema, `${path}.`, depth);
}

function defaultOf({ default: value }: Schema): string | undefined {
  if (typeof value === "string") return value === "" ? '""' : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
