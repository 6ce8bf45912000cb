/**
 * What was recorded of a real API server of one Kubernetes version: what it serves, and what an
 * empty cluster has. `npm run record-kubernetes` writes it, as text, into `recorded/`.
 *
 * Each function reads its file when it is called, and returns objects of its own.
 */
import { recordedText } from "./recorded-text.ts";

export { packageNameOf, packageOf } from "./go-packages.ts";

/** The kinds that a server serves, and the version that it is. */
export interface RecordedKinds {
  readonly version: KubernetesVersion;
  /** In the server's order of preference. */
  readonly groups: readonly RecordedGroup[];
}

/** The Kubernetes version that was recorded. */
export interface KubernetesVersion {
  /** Such as `v1.35.4`. */
  readonly gitVersion: string;
  readonly major: string;
  readonly minor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
}

/** An API group, with the priority that its APIServices have. */
export interface RecordedGroup {
  readonly name: string;
  readonly priority: number;
  readonly versions: readonly RecordedVersion[];
}

/** A version of a group, and what is served in it. */
export interface RecordedVersion {
  readonly version: string;
  readonly priority: number;
  readonly resources: readonly RecordedResource[];
}

/** A resource as discovery lists it, with its subresources. */
export interface RecordedResource {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly hash?: string;
  readonly subresources?: readonly {
    readonly name: string;
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly verbs: readonly string[];
  }[];
}

/** The columns of each kind's table, by a name such as `deployments.apps/v1`. */
export interface RecordedColumns {
  readonly [resource: string]: readonly RecordedColumn[];
}

/** A column of a kind's table. */
export type RecordedColumn = readonly [name: string, type: string, format: string, priority: number];

/** What Kubernetes says of the types of metadata, by the name of the type. */
export interface RecordedDescriptions {
  readonly [type: string]: {
    readonly type: string;
    readonly fields: { readonly [field: string]: string };
  };
}

/** What the real server creates in an empty cluster, by kind, without what storing it adds. */
export interface RecordedBootstrap {
  /** The server they were recorded from, such as `v1.35.4`. */
  readonly version: string;
  readonly clusterRoles: readonly RecordedObject[];
  readonly clusterRoleBindings: readonly RecordedObject[];
  readonly roles: readonly RecordedObject[];
  readonly roleBindings: readonly RecordedObject[];
  readonly priorityClasses: readonly RecordedObject[];
  readonly priorityLevels: readonly RecordedObject[];
  readonly flowSchemas: readonly RecordedObject[];
}

/** An object of any kind. */
export interface RecordedObject {
  readonly [field: string]: unknown;
}

/** The types of one package, as OpenAPI describes them. */
export interface RecordedSchemas {
  /** What the published names start with: `io.k8s.api.core.v1`. */
  readonly prefix: string;
  readonly types: { readonly [name: string]: RecordedSchema };
}

/**
 * A node of a schema, without its description. Types are named, as `core.v1.PodSpec`; what stands
 * beside such a name, a default for one, adds to the type.
 */
export interface RecordedSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: { readonly [name: string]: RecordedSchema };
  readonly items?: RecordedSchema;
  readonly additionalProperties?: RecordedSchema | boolean;
  readonly required?: readonly string[];
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/** What the server serves. */
export function recordedKinds(): RecordedKinds {
  return read("kinds") as RecordedKinds;
}

/** The columns of every kind that can be listed. */
export function recordedColumns(): RecordedColumns {
  return read("columns") as RecordedColumns;
}

/** The words on what every object has: its metadata. */
export function recordedDescriptions(): RecordedDescriptions {
  return read("descriptions") as RecordedDescriptions;
}

/** What a new cluster starts with. */
export function recordedBootstrap(): RecordedBootstrap {
  return read("bootstrap") as RecordedBootstrap;
}

/** The types of a package such as `core.v1`. @throws Error if there is none */
export function recordedSchemas(packageId: string): RecordedSchemas {
  return read(`schemas/${packageId}`) as RecordedSchemas;
}

function read(name: string): unknown {
  return JSON.parse(recordedText(name));
}
