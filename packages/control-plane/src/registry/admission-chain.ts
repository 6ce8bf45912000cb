import type { AdmissionStep, ServerMetrics } from "../metrics/server-metrics.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";

/**
 * Runs the admission plugins in order, and measures each.
 *
 * @throws StatusError what the first that refuses says
 */
export async function runAdmission(
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
