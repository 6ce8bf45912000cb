/** Why a component cannot be configured as things are. Its pods are left as they are. */
export class SetFault extends Error {
  override readonly name = "SetFault";
  /** One CamelCase word for programs. */
  readonly reason:
    | "MissingReference"
    | "Ambiguous"
    | "VersionMismatch"
    | "ConfigMapMissing"
    | "SizeClassInvalid"
    | "ExpressionInvalid";

  constructor(reason: SetFault["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}
