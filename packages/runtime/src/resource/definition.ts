import type { Scope } from "@windlass/client";
import type { $ZodType } from "zod/v4/core";
import type { ValidationRule } from "./structural.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  /** Where the value is, e.g. `.status.availableReplicas`. */
  readonly jsonPath: string;
  /** `date` prints how long ago a timestamp was. @default "string" */
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
  /** How to read the value, e.g. `int32`, `date-time`. */
  readonly format?: string;
  readonly description?: string;
  /** Columns above 0 are printed with `-o wide` only. @default 0 */
  readonly priority?: number;
}

/** Makes `kubectl scale` and HorizontalPodAutoscalers work on the kind. */
export interface ScaleSubresource {
  /** The integer that scaling writes. @default ".spec.replicas" */
  readonly specReplicasPath?: string;
  /** The integer that says how many there are. @default ".status.replicas" */
  readonly statusReplicasPath?: string;
  /**
   * A string that holds the serialised label selector of the pods; an autoscaler needs it.
   *
   * @default none
   */
  readonly labelSelectorPath?: string;
}

/** What a kind is, in one version. */
export interface ResourceDefinition<
  Spec extends $ZodType = $ZodType,
  Status extends $ZodType | undefined = $ZodType | undefined,
  Kind extends string = string,
  Where extends Scope = Scope,
> {
  /** A domain of yours, e.g. `example.com`. */
  readonly group: string;
  readonly version: string;
  /** In CamelCase, e.g. `WebApp`. */
  readonly kind: Kind;
  /** @default the kind in lower case, in the plural */
  readonly plural?: string;
  /** @default the kind in lower case */
  readonly singular?: string;
  /** What people type instead of the plural. @default none */
  readonly shortNames?: readonly string[];
  /** Groups that `kubectl get` knows, e.g. `all`. @default none */
  readonly categories?: readonly string[];
  /** @default "Namespaced" */
  readonly scope?: Where;
  /** Shown by `kubectl explain`. */
  readonly description?: string;
  /** What users ask for. */
  readonly spec: Spec;
  /**
   * What the operator observed. Given one, the kind has a status subresource, and its status also
   * has `conditions` and `observedGeneration`.
   * @default no status
   */
  readonly status?: Status;
  /** @default the name and the age */
  readonly printerColumns?: readonly PrinterColumn[];
  /** @default not scalable */
  readonly scale?: ScaleSubresource;
  /**
   * Fields that `kubectl get --field-selector` and watches can select by, e.g. `.spec.host`; at
   * most eight.
   *
   * @default none
   */
  readonly selectableFields?: readonly string[];
  /**
   * CEL rules on the whole object: of its metadata they see `name` and `generateName`.
   *
   * @default none
   */
  readonly validations?: readonly ValidationRule[];
  /** Whether the API serves this version. @default true */
  readonly served?: boolean;
  /**
   * Makes the server warn users of this version; the text says what to use instead.
   *
   * @default not deprecated
   */
  readonly deprecated?: string;
}
