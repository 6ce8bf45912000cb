import type { JsonObject } from "../json.ts";
import type { AdmissionStep, ServerMetrics } from "../metrics/server-metrics.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import type { Target } from "./identity.ts";

/** A write as admission sees it. */
export function admissionRequest(
  operation: AdmissionRequest["operation"],
  { resource, subresource, namespace, name }: Target,
  {
    user,
    addressed,
    dryRun,
    warn,
  }: Pick<AdmissionRequest, "user" | "dryRun" | "warn"> & {
    readonly addressed?: string;
  },
  objects: Pick<AdmissionRequest, "object" | "options"> & { readonly oldObject?: JsonObject },
): AdmissionRequest {
  const { object, oldObject, options } = objects;
  return {
    operation,
    resource,
    subresource,
    namespace,
    name,
    object,
    oldObject,
    options,
    user,
    addressed,
    dryRun,
    warn,
  };
}

/** The admission plugins of a server, in their order. */
export class AdmissionChain {
  readonly #plugins: readonly Admission[];
  readonly #metrics: ServerMetrics;

  /** @param plugins may grow until the server starts. */
  constructor(plugins: readonly Admission[], metrics: ServerMetrics) {
    this.#plugins = plugins;
    this.#metrics = metrics;
  }

  /** Has the object changed by those that change objects. @throws StatusError what they say */
  mutate(request: AdmissionRequest): Promise<void> {
    return runAdmission(this.#plugins, "admit", request, this.#metrics);
  }

  /** Has the object checked. @throws StatusError what the first that refuses says */
  validate(request: AdmissionRequest): Promise<void> {
    return runAdmission(this.#plugins, "validate", request, this.#metrics);
  }
}

/**
 * Runs the admission plugins in order, and measures each.
 *
 * @throws StatusError what the first that refuses says
 */
async function runAdmission(
  plugins: readonly Admission[],
  step: AdmissionStep,
  request: AdmissionRequest,
  metrics: ServerMetrics,
): Promise<void> {
  const { operation } = request;
  const began = metrics.now();
  let last = began;
  let current = "";
  const passed = (isRejected: boolean) => {
    const now = metrics.now();
    metrics.admitted(current, step, operation, isRejected, now - last);
    last = now;
  };
  try {
    for (const { name, mutate, validate } of plugins) {
      const look = step === "admit" ? mutate : validate;
      if (!look) continue;
      current = name;
      const waiting = look(request);
      if (waiting) await waiting;
      passed(false);
    }
  } catch (error) {
    passed(true);
    metrics.stepped(step, operation, true, last - began);
    throw error;
  }
  metrics.stepped(step, operation, false, last - began);
}
