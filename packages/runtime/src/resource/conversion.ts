import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, type KubernetesObject } from "@windlass/client";
import type { IsExact, UnknownPaths } from "../reconcile/exact.ts";
import type { ResourceDefinition } from "./definition.ts";
import { Problems } from "./refusal.ts";
import { fillDefaults, type StructuralSchema } from "./structural.ts";
import { objectSchemaOf } from "./version-entry.ts";

/**
 * What a conversion returns: the object's own fields in the other version. A status that is left
 * out stays as it is where both versions have the same schema of it, and is dropped otherwise. Of
 * the metadata, labels and annotations may be given, and then replace the
 * present ones; the API server lets a conversion change nothing else there.
 */
export type Converted<Write> = {
  readonly [Field in keyof Write as Field extends "apiVersion" | "kind" | "metadata"
    ? never
    : Field]: Write[Field];
} & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/** How the stored version and another one become each other. */
export interface Conversion<
  Read,
  Write,
  OtherRead,
  OtherWrite,
  To = Converted<OtherWrite>,
  From = Converted<Write>,
> {
  /** From the stored version to the other. */
  to(object: Read): To;
  /** From the other version to the stored one. */
  from(object: OtherRead): From;
}

/**
 * Makes the compiler refuse conversions that return fields which the version does not have: the API
 * server would drop them without a word.
 */
export type Converting<To, OtherWrite, From, Write> = Returning<"to", To, Converted<OtherWrite>> &
  Returning<"from", From, Converted<Write>>;

type Returning<Name extends "to" | "from", Result, Allowed> =
  IsExact<Result, Allowed> extends true
    ? unknown
    : { readonly [N in Name]: `"${UnknownPaths<Result, Allowed>}" is not a field of the version` };

/** A version of a kind, by what it was defined from. */
interface DefinedVersion {
  readonly group: string;
  readonly version: string;
  readonly definition: ResourceDefinition;
}

/** Another version of a kind, and the way there and back. */
export interface Link {
  readonly other: DefinedVersion;
  readonly conversion: Conversion<KubernetesObject, unknown, KubernetesObject, unknown>;
}

interface Convertible {
  readonly definition: ResourceDefinition;
  readonly kind: string;
  readonly schema: () => StructuralSchema;
  readonly links: readonly Link[];
}

/** Converts by way of the stored version, filling in defaults at each stop. */
export function convertObject(
  kind: Convertible,
  object: KubernetesObject,
  version: string,
): KubernetesObject {
  const { definition, links } = kind;
  const stored = apiVersionOf(definition);
  const from = links.find((link) => apiVersionOf(link.other) === object.apiVersion);
  const to = links.find((link) => link.other.version === version);
  const known = [definition.version, ...links.map((link) => link.other.version)].join(", ");
  if (object.kind !== kind.kind || (from === undefined && object.apiVersion !== stored)) {
    throw new TypeError(
      `cannot convert ${object.apiVersion} ${object.kind}: this converts ${definition.group} ${kind.kind} between ${known}`,
    );
  }
  if (to === undefined && version !== definition.version) {
    throw new TypeError(`cannot convert ${kind.kind} to ${version}: there are ${known}`);
  }
  const wanted = `${definition.group}/${version}`;
  if (object.apiVersion === wanted) return object;
  const home: Place = { apiVersion: stored, schema: kind.schema() };
  const middle =
    from === undefined ? object : moved(object, (one) => from.conversion.from(one), placeOf(from), home);
  return to === undefined ? middle : moved(middle, (one) => to.conversion.to(one), home, placeOf(to));
}

/** A version as objects are brought from it and to it. */
interface Place {
  readonly apiVersion: string;
  readonly schema: StructuralSchema;
}

const schemas = new WeakMap<ResourceDefinition, StructuralSchema>();

function placeOf({ other: { definition } }: Link): Place {
  const schema = schemas.get(definition) ?? objectSchemaOf(definition, new Problems());
  schemas.set(definition, schema);
  return { apiVersion: apiVersionOf(definition), schema };
}

function filled(object: KubernetesObject, schema: StructuralSchema): KubernetesObject {
  return fillDefaults(object, schema) as KubernetesObject;
}

/** An object in another version. */
function moved(
  object: KubernetesObject,
  convert: (object: KubernetesObject) => Converted<unknown>,
  from: Place,
  { apiVersion, schema }: Place,
): KubernetesObject {
  const { metadata = {}, ...fields } = convert(filled(object, from.schema));
  const { labels, annotations } = metadata;
  const isSameStatus = () => isDeepStrictEqual(from.schema.properties?.status, schema.properties?.status);
  const isKept = "status" in object && !("status" in fields) && isSameStatus();
  const next = {
    apiVersion,
    kind: object.kind,
    metadata: {
      ...object.metadata,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(isKept ? { status: object.status } : {}),
    ...fields,
  };
  return filled(next as KubernetesObject, schema);
}
