/** The form in which the kinds of a real server are recorded in `data/kinds.json.gz`. */
export interface RecordedKinds {
  readonly version: KubernetesVersion;
  /** In the server's order of preference. */
  readonly groups: readonly RecordedGroup[];
}

/** The Kubernetes version this server speaks. */
export interface KubernetesVersion {
  /** Such as `v1.35.4`. */
  readonly gitVersion: string;
  readonly major: string;
  readonly minor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
}

export interface RecordedGroup {
  readonly name: string;
  readonly priority: number;
  readonly versions: readonly RecordedVersion[];
}

export interface RecordedVersion {
  readonly version: string;
  readonly priority: number;
  readonly resources: readonly RecordedResource[];
}

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

/** A column of a kind's table in `data/columns.json.gz`. */
export type RecordedColumn = [name: string, type: string, format: string, priority: number];
