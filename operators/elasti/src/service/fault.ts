/** Why an ElastiService cannot be acted upon. */
export type FaultReason =
  | "ServiceMissing"
  | "ServiceUnsupported"
  | "ServiceTaken"
  | "TargetMissing"
  | "TargetNotScalable"
  | "DependencyMissing"
  | "DependencyCycle"
  | "PortsExhausted";

/**
 * Something about an ElastiService that a person has to put right. It is left as it is until then.
 */
export class ServiceFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason, message: string) {
    super(message);
    this.name = "ServiceFault";
    this.reason = reason;
  }
}
