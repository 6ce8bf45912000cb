import type { AnyObject } from "@windlass/client";

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The conditions that say how far an object is, the most significant first. */
const telling = ["Ready", "Available", "Complete", "Failed"];

/** How far an object is, in a few words. */
export function describe(object: AnyObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return "is being deleted";
  const { spec = {}, status = {} } = object as {
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly status?: Readonly<Record<string, unknown>>;
  };
  if (object.kind === "Pod") return [status.phase ?? "Pending", status.podIP].filter(Boolean).join(" at ");
  if (typeof spec.replicas === "number" && ("availableReplicas" in status || "replicas" in status)) {
    const available = Number(status.availableReplicas ?? 0);
    const ready = readyIn(status);
    // Replicas are not what it lacks.
    if (ready?.status === "False" && available >= spec.replicas) return conditionWords(ready);
    return `${readyWords(ready)}${available} of ${spec.replicas} available`;
  }
  const condition = mostTelling(status.conditions);
  return condition === undefined ? "is there" : conditionWords(condition);
}

/** Whether an object says of itself that it is Ready. */
export function isReady({ status }: AnyObject & { readonly status?: unknown }): boolean {
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function readyIn({ conditions }: Readonly<Record<string, unknown>>): Condition | undefined {
  return (conditions as readonly Condition[] | undefined)?.find(({ type }) => type === "Ready");
}

function readyWords(ready: Condition | undefined): string {
  if (ready === undefined) return "";
  return ready.status === "True" ? "Ready: " : "not Ready: ";
}

function mostTelling(conditions: unknown): Condition | undefined {
  const all = (conditions ?? []) as readonly Condition[];
  return telling.map((type) => all.find((one) => one.type === type)).find((one) => one !== undefined);
}

function conditionWords({ type, status, reason, message }: Condition): string {
  const why = message === undefined || message === "" ? reason : message;
  return `${status === "True" ? "" : "not "}${type}${why === undefined ? "" : `: ${why}`}`;
}
