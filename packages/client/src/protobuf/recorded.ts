/** What `generated/messages.json` holds. */
export interface RecordedMessages {
  /** The Kubernetes version whose types these are. */
  readonly major: number;
  readonly minor: number;
  /**
   * The name that a group's packages begin with: `core` for the one without a name, `rbac` for
   * `rbac.authorization.k8s.io`.
   */
  readonly groups: Readonly<Record<string, string>>;
  /** By a name such as `core.v1`. */
  readonly packages: Readonly<Record<string, RecordedPackage>>;
}

export interface RecordedPackage {
  readonly types: Readonly<Record<string, RecordedType>>;
  /** Named lists that are sent as a message with one repeated field. */
  readonly wrapped: readonly string[];
}

/** A struct as its fields; any other named type as the Go expression it stands for. */
export type RecordedType = readonly RecordedField[] | string;

/**
 * A field: its name in JSON, its Go type, flags and its number (0 where it is not sent).
 *
 * Flags: `o` is left out of JSON when empty, `z` when it is zero, `i` has its own fields in its
 * place.
 */
export type RecordedField = readonly [json: string, type: string, flags: string, number: number];
