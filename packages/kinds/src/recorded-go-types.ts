import recorded from "./recorded/go-types.json" with { type: "json" };

/**
 * The Go types of Kubernetes' own kinds: how their JSON leaves out empty fields, and the numbers of
 * their fields in protobuf. Recorded from the modules that a server was built of.
 */
export interface RecordedGoTypes {
  /** The Kubernetes version whose types these are. */
  readonly major: number;
  readonly minor: number;
  /**
   * The name that a group's packages begin with: `core` for the one without a name, `rbac` for
   * `rbac.authorization.k8s.io`.
   */
  readonly groups: Readonly<Record<string, string>>;
  /** By a name such as `core.v1`. */
  readonly packages: Readonly<Record<string, RecordedGoPackage>>;
}

/** The types of one Go package. */
export interface RecordedGoPackage {
  readonly types: Readonly<Record<string, RecordedGoType>>;
  /** Named lists that protobuf carries as a message with one repeated field. */
  readonly wrapped: readonly string[];
}

/** A struct as its fields; any other named type as the Go expression it stands for. */
export type RecordedGoType = readonly RecordedGoField[] | string;

/**
 * A field of a struct: its name in JSON, its Go type, flags and its number in protobuf (0 where it
 * is not sent).
 *
 * Flags: `o` omitempty, `z` omitzero, `i` inlined into the struct that holds it.
 */
export type RecordedGoField = readonly [json: string, type: string, flags: string, number: number];

/** What was recorded of the version that the packages know. */
export const goTypes: RecordedGoTypes = recorded as unknown as RecordedGoTypes;
