import type {
  ClusterMetaInput,
  ClusterObjectMeta,
  KubernetesObject,
  NamedMetaInput,
  NamespacedObjectMeta,
  ObjectMeta,
  ObjectMetaInput,
  ResourceKind,
  Scope,
} from "@windlass/client";
import { apiVersionOf } from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";
import { type $ZodType, type input, type output, safeParse } from "zod/v4/core";
import type { Condition } from "./condition.ts";
import { type Conversion, type Converted, type Converting, convertObject, type Link } from "./conversion.ts";
import { type CrdManifest, type CrdOptions, customResourceDefinition } from "./crd.ts";
import type { ResourceDefinition } from "./definition.ts";
import { checkNames, pluralOf } from "./names.ts";
import { Problems } from "./refusal.ts";
import { fillDefaults, type StructuralSchema } from "./structural.ts";
import { objectSchemaOf } from "./version-entry.ts";

/** The same data, readonly all the way down. */
export type DeepReadonly<T> = unknown extends T ? T : { readonly [K in keyof T]: DeepReadonly<T[K]> };

type StatusFields<Own> = DeepReadonly<Own> &
  Omit<{ readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }, keyof Own>;

type SpecField<Value> = undefined extends Value
  ? { readonly spec?: DeepReadonly<Exclude<Value, undefined>> }
  : { readonly spec: DeepReadonly<Value> };

type StatusField<Status, Value> = [Status] extends [$ZodType]
  ? { readonly status?: StatusFields<Value> }
  : unknown;

interface TypeFields<Kind extends string = string> {
  readonly apiVersion?: string;
  readonly kind?: Kind;
}

type MetaIn<Where extends Scope> = [Where] extends ["Namespaced"]
  ? NamespacedObjectMeta
  : [Where] extends ["Cluster"]
    ? ClusterObjectMeta
    : ObjectMeta;

type MetaInputIn<Where extends Scope> = [Where] extends ["Cluster"] ? ClusterMetaInput : NamedMetaInput;

/** An object of a defined kind as the server returns it: defaults are filled in. */
export type ReadObject<
  Spec extends $ZodType,
  Status extends $ZodType | undefined,
  Kind extends string = string,
  Where extends Scope = Scope,
> = TypeFields<Kind> & {
  readonly metadata: MetaIn<Where>;
} & SpecField<output<Spec>> &
  StatusField<Status, output<Status>>;

/** An object of a defined kind as one may send it: what has a default may be left out. */
export type WriteObject<
  Spec extends $ZodType,
  Status extends $ZodType | undefined,
  Kind extends string = string,
  Where extends Scope = Scope,
> = TypeFields<Kind> & {
  readonly metadata: MetaInputIn<Where>;
} & SpecField<input<Spec>> &
  StatusField<Status, input<Status>>;

type FieldOf<T, Name extends string> = T extends { readonly [K in Name]?: infer Field } ? Field : never;

/** A condition as `condition()` makes it: it need not say since when. */
type UnstampedCondition = Omit<Condition, "lastTransitionTime"> &
  Partial<Pick<Condition, "lastTransitionTime">>;

/** A status as a reconciler returns it. */
type UnstampedStatus<Status> = Status extends { readonly conditions?: readonly Condition[] }
  ? Omit<Status, "conditions"> & { readonly conditions?: readonly UnstampedCondition[] }
  : Status;

/**
 * A kind that was defined here: a value to address it, with its CustomResourceDefinition and its
 * versions.
 */
export interface Resource<
  Read extends KubernetesObject = KubernetesObject,
  Write = unknown,
  Where extends Scope = Scope,
> extends ResourceKind<Read, Write, Where> {
  readonly singular: string;
  readonly definition: ResourceDefinition;
  /** The versions of the kind, the stored one first. */
  readonly versions: readonly string[];

  /**
   * The CustomResourceDefinition, as plain JSON.
   *
   * @throws ResourceDefinitionError when an API server would refuse it, with every field that is at
   *   fault
   */
  crd(options?: CrdOptions): CrdManifest;

  /** Whether an object is of this kind and version, by its `apiVersion` and `kind`. */
  is(object: unknown): object is Read;

  /**
   * An object of the kind as the server would return it, defaults filled in: for tests, and to
   * preview. Its namespace is `default` unless given. The spec is checked against the schema (CEL
   * rules are the server's to run); the status is taken as it is, which may be what a reconciler
   * has returned: conditions without a time get that of the object's creation, or 1970.
   *
   * @throws TypeError when the spec does not fit, with the fields at fault
   */
  make(
    metadata: string | MetaInputIn<Where>,
    spec: FieldOf<Write, "spec">,
    status?: UnstampedStatus<FieldOf<Read, "status">>,
  ): Read;

  /**
   * The same kind, also served in another version. This one is stored; the other is converted to
   * and from it. The functions get objects with their defaults filled in, and must not lose
   * anything: what the other version has no field for belongs into an annotation.
   */
  withVersion<
    OtherRead extends KubernetesObject,
    OtherWrite,
    const To extends Converted<OtherWrite>,
    const From extends Converted<Write>,
  >(
    other: Resource<OtherRead, OtherWrite>,
    conversion: Conversion<Read, Write, OtherRead, OtherWrite, To, From> &
      Converting<To, OtherWrite, From, Write>,
  ): Resource<Read, Write, Where>;

  /**
   * An object of any of the kind's versions in another of them. Metadata stays as it is, except for
   * the labels and annotations that the conversion sets.
   */
  convert(object: KubernetesObject, version: string): KubernetesObject;
}

/**
 * Defines a kind from zod schemas: its types, its CustomResourceDefinition, and a value to address
 * it by.
 *
 * Names are checked at once; the schema when its CRD is first asked for.
 *
 * @example
 * const WebApp = defineResource({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "WebApp",
 *   spec: z.object({ image: z.string().min(1), replicas: z.int().min(0).default(1) }),
 *   status: z.object({ availableReplicas: z.int().optional() }),
 * });
 * WebApp.crd(); // for kubectl apply
 */
export function defineResource<
  Spec extends $ZodType,
  const Kind extends string,
  Status extends $ZodType | undefined = undefined,
  Where extends Scope = "Namespaced",
>(
  definition: ResourceDefinition<Spec, Status, Kind, Where>,
): Resource<ReadObject<Spec, Status, Kind, Where>, WriteObject<Spec, Status, Kind, Where>, Where> {
  return resource<ReadObject<Spec, Status, Kind, Where>, WriteObject<Spec, Status, Kind, Where>, Where>(
    definition,
    [],
  );
}

function resource<Read extends KubernetesObject, Write, Where extends Scope>(
  definition: ResourceDefinition,
  links: readonly Link[],
): Resource<Read, Write, Where> {
  const { group, version, kind, plural = pluralOf(kind), singular = kind.toLowerCase() } = definition;
  const { shortNames = [], categories = [] } = definition;
  // `Where` is "Namespaced" where the definition leaves it out.
  const scope = (definition.scope ?? "Namespaced") as Where;
  const names = { group, version, kind, plural, singular, shortNames, categories };
  const subject = `${kind} (${group}/${version})`;
  const problems = new Problems();
  checkNames(names, problems);
  problems.settle(subject);

  let known: StructuralSchema | undefined;
  const schema = (): StructuralSchema => {
    known ??= objectSchemaOf(definition, new Problems());
    return known;
  };
  const apiVersion = apiVersionOf(definition);
  const versions = [version, ...links.map((link) => link.other.version)];

  return {
    group,
    version,
    kind,
    plural,
    singular,
    scope,
    definition,
    versions,
    crd: (options = {}) => customResourceDefinition({ names, scope, definition, links }, options),
    is: (object): object is Read =>
      typeof object === "object" &&
      object !== null &&
      (object as TypeFields).apiVersion === apiVersion &&
      (object as TypeFields).kind === kind,
    make: (metadata, spec, status) => {
      checkField(definition.spec, fillDefaults(spec, schema().properties?.spec ?? {}), `${subject}: spec`);
      const given = typeof metadata === "string" ? { name: metadata } : metadata;
      const bare = {
        apiVersion,
        kind,
        metadata: { ...(scope === "Namespaced" ? { namespace: "default" } : {}), ...given },
        ...(spec === undefined ? {} : { spec }),
        ...(status === undefined ? {} : { status: stamped(status, given) }),
      };
      return fillDefaults(bare, schema()) as unknown as Read;
    },
    withVersion: (other, conversion) => {
      const faults = new Problems();
      for (const field of ["group", "kind", "plural", "scope"] as const) {
        const mine = { group, kind, plural, scope }[field];
        if (other[field] !== mine) {
          faults.add(
            field,
            `version ${other.version} has ${other[field]}, and ${version} has ${mine}: it must be the same kind`,
          );
        }
      }
      if (versions.includes(other.version)) faults.add("version", `${other.version} is there already`);
      if (other.versions.length > 1)
        faults.add("version", `${other.version} has other versions itself; add each to ${version}`);
      faults.settle(subject);
      return resource<Read, Write, Where>(definition, [...links, { other, conversion } as unknown as Link]);
    },
    convert: (object, to) => convertObject({ definition, kind, schema, links }, object, to),
  };
}

/** A status whose conditions say since when. */
function stamped(status: unknown, { creationTimestamp = "1970-01-01T00:00:00Z" }: ObjectMetaInput): unknown {
  if (!isRecord(status) || !Array.isArray(status.conditions)) return status;
  const conditions = status.conditions.map((one: object) => ({
    lastTransitionTime: creationTimestamp,
    ...one,
  }));
  return { ...status, conditions };
}

function checkField(schema: $ZodType, value: unknown, subject: string): void {
  const parsed = safeParse(schema, value);
  if (parsed.success) return;
  const faults = parsed.error.issues.map(
    (issue) => `${[subject, ...issue.path.map(String)].join(".")}: ${issue.message}`,
  );
  throw new TypeError(faults.join("\n"));
}
