const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/**
 * How long a call of gRPC may take, in milliseconds; Infinity if it does not say, or not in gRPC's
 * form.
 */
export function grpcTimeout(value: string | undefined): number {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value ?? "") ?? [];
  return digits === undefined ? Number.POSITIVE_INFINITY : Number(digits) * (unitMs[unit] ?? 1);
}
