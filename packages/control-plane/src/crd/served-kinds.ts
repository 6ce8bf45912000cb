import { append } from "../append.ts";
import type { JsonObject } from "../json.ts";
import { field, presentObjectAt, specOf, textAt, textsAt } from "../json-fields.ts";
import type { Matcher } from "../patterns/index.ts";
import { blocksRules, RULES_SKIPPED } from "../schema/causes.ts";
import type { Schema } from "../schema/schema.ts";
import { compile, type StructuralSchema } from "../schema/structural.ts";
import type { Cause } from "../status.ts";
import type { Steps } from "../steps.ts";
import { type CrdVersion, versionsOf } from "./definition.ts";
import { hasRules } from "./openapi-rules.ts";
import { loadedCel } from "./rule-review.ts";
import { type ScalePaths, scaleFaults } from "./scale.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** One version of a custom resource, as the API server serves it. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly served: boolean;
  /** Whether this is the version objects are stored in. */
  readonly storage: boolean;
  readonly deprecated: boolean;
  /** The `Warning` that answers to requests of a deprecated version carry. */
  readonly deprecationWarning: string | undefined;
  readonly schema: StructuralSchema;
  readonly subresources: { readonly status: boolean; readonly scale: ScalePaths | undefined };
  /** As declared; a kind with none gets the column Age where tables are printed. */
  readonly printerColumns: readonly PrinterColumn[];
  /** Paths such as `.spec.color`, without the leading dot. */
  readonly selectableFields: readonly string[];

  /**
   * Everything wrong with an object of this kind but its metadata: schema, embedded resources,
   * lists, scale paths, CEL rules. With `old` this is an update; `status` says that it came through
   * the status subresource.
   */
  validate(matcher: Matcher, object: JsonObject, old?: JsonObject, subresource?: "status"): Steps<Cause[]>;
}

/**
 * The kinds a CRD defines, one per version in the CRD's order, those not served included (they may
 * be the storage version). The CRD must be valid; await `prepareCrd` first if it may have CEL
 * rules.
 */
export function servedKinds(crd: JsonObject): ServedKind[] {
  const spec = specOf(crd);
  const names = presentObjectAt(spec, "names");
  const shared = {
    group: textAt(spec, "group"),
    kind: textAt(names, "kind"),
    listKind: textAt(names, "listKind"),
    plural: textAt(names, "plural"),
    singular: textAt(names, "singular"),
    shortNames: textsAt(names, "shortNames"),
    categories: textsAt(names, "categories"),
    namespaced: textAt(spec, "scope") === "Namespaced",
  };
  return versionsOf(crd).map((version) => ({ ...shared, ...versionOf(version, shared) }));
}

/** Anything goes, which is what a version without a schema means. */
const OPEN: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function versionOf(version: CrdVersion, { group, kind }: { group: string; kind: string }) {
  const schema = version.schema ?? OPEN;
  const structural = compile(schema);
  const scale = scalePaths(presentObjectAt(version.subresources, "scale"));
  const deprecated = field(version.raw, "deprecated") === true;
  const warning = field(version.raw, "deprecationWarning");
  const rules = hasRules(schema) ? loadedCel().compileRules(schema) : undefined;

  function* validate(
    matcher: Matcher,
    object: JsonObject,
    old?: JsonObject,
    subresource?: "status",
  ): Steps<Cause[]> {
    const causes = yield* matcher.attempt(() =>
      subresource === "status" && old !== undefined
        ? structural.validateStatus(matcher, object, old)
        : structural.validate(matcher, object, old),
    );
    if (scale !== undefined) {
      append(causes, scaleFaults(object, scale, subresource === "status" ? "status" : "all"));
    }
    if (rules === undefined) return causes;
    if (blocksRules(causes)) return [...causes, RULES_SKIPPED];
    return [...causes, ...(yield* rules.evaluate(matcher, object, old))];
  }

  return {
    version: version.name,
    served: version.served,
    storage: version.storage,
    deprecated,
    deprecationWarning: !deprecated
      ? undefined
      : typeof warning === "string"
        ? warning
        : `${group}/${version.name} ${kind} is deprecated`,
    schema: structural,
    subresources: { status: presentObjectAt(version.subresources, "status") !== undefined, scale },
    printerColumns: version.columns.map((column) => {
      const priority = field(column, "priority");
      return {
        name: textAt(column, "name"),
        type: textAt(column, "type"),
        jsonPath: textAt(column, "jsonPath"),
        format: textAt(column, "format"),
        description: textAt(column, "description"),
        priority: typeof priority === "number" ? priority : 0,
      };
    }),
    selectableFields: version.selectableFields.map((selectable) =>
      textAt(selectable, "jsonPath").replace(/^\./, ""),
    ),
    validate,
  };
}

function scalePaths(scale: JsonObject | undefined): ScalePaths | undefined {
  if (scale === undefined) return undefined;
  const labelSelectorPath = textAt(scale, "labelSelectorPath");
  return {
    specReplicasPath: textAt(scale, "specReplicasPath"),
    statusReplicasPath: textAt(scale, "statusReplicasPath"),
    ...(labelSelectorPath === "" ? {} : { labelSelectorPath }),
  };
}
