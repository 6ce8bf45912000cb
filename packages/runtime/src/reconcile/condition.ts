import { checkReason } from "./errors.ts";

/** One aspect of an object's state, in the form that `kubectl wait --for=condition=…` reads. */
export interface WantedCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One CamelCase word for programs. */
  readonly reason: string;
  /** A sentence for people. May be empty. */
  readonly message: string;
  /** Since when the status is what it is. The runtime fills it in. */
  readonly lastTransitionTime?: string;
  /** The generation of the object that this was said about. The runtime fills it in. */
  readonly observedGeneration?: number;
}

/**
 * A condition, to return in `status.conditions`. The runtime stamps it: `lastTransitionTime` moves
 * only when the status does.
 *
 * @param message A sentence for people. @default ""
 * @throws TypeError if type or reason are not what the API takes.
 * @example
 * condition("Ready", available === wanted, "ReplicasAvailable", `${available} of ${wanted} replicas are available`)
 */
export function condition(
  type: string,
  status: boolean | "Unknown",
  reason: string,
  message = "",
): WantedCondition {
  if (!/^([a-z0-9.-]+\/)?[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(type))
    throw new TypeError(`condition type ${JSON.stringify(type)} must be one CamelCase word`);
  return {
    type,
    status: status === "Unknown" ? "Unknown" : status ? "True" : "False",
    reason: checkReason(reason),
    message,
  };
}

/**
 * The wanted conditions, stamped: the transition time of the live condition is kept while the
 * status is the same, and is `now` otherwise. Order is kept; of two with the same type the last
 * counts.
 */
export function stampConditions(
  wanted: readonly WantedCondition[],
  live: readonly WantedCondition[],
  now: string,
  generation: number | undefined,
): readonly WantedCondition[] {
  const before = new Map(live.map((one) => [one.type, one]));
  const stamped = new Map<string, WantedCondition>();
  for (const one of wanted) {
    const was = before.get(one.type);
    const kept = was && was.status === one.status ? was.lastTransitionTime : undefined;
    stamped.set(one.type, {
      ...one,
      lastTransitionTime: one.lastTransitionTime ?? kept ?? now,
      ...(generation === undefined ? {} : { observedGeneration: one.observedGeneration ?? generation }),
    });
  }
  return [...stamped.values()];
}

/** The conditions within a status, whatever it is: what does not look like one is left out. */
export function conditionsOf(status: unknown): readonly WantedCondition[] {
  if (typeof status !== "object" || status === null || !("conditions" in status)) return [];
  if (!Array.isArray(status.conditions)) return [];
  return status.conditions.filter(
    (one: unknown): one is WantedCondition =>
      typeof one === "object" && one !== null && "type" in one && typeof one.type === "string",
  );
}

/**
 * RFC 3339 in whole seconds, as `metav1.Time` is written.
 *
 * @param time A `Date`, such as `now` of the context, or milliseconds since 1970.
 */
export function timestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/**
 * RFC 3339 with six fractional digits, as `metav1.MicroTime` must be written.
 *
 * @param time A `Date`, such as `now` of the context, or milliseconds since 1970.
 */
export function microTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 23)}000Z`;
}
