import type { Registry } from "@windlass/runtime";
import type { SmokeResult } from "./smoke.ts";

interface FrontendName {
  readonly namespace: string;
  readonly name: string;
}

function families(registry: Registry) {
  const labels = ["namespace", "frontend"];
  return {
    success: registry.gauge({
      name: "buildbarn_probe_success",
      help: "Whether the last action that was tried ran, and was found in the cache: 1 or 0",
      labels,
    }),
    seconds: registry.gauge({
      name: "buildbarn_probe_seconds",
      help: "How long the last action that was tried took",
      labels,
    }),
  };
}

/** Sets the metrics of a frontend that is tried every so often. */
export function reportProbe(
  registry: Registry,
  { namespace, name }: FrontendName,
  { ok, latencyMs }: Pick<SmokeResult, "ok" | "latencyMs">,
): void {
  const labels = { namespace, frontend: name };
  const { success, seconds } = families(registry);
  success.set(ok ? 1 : 0, labels);
  seconds.set(latencyMs / 1_000, labels);
}

/** Takes the metrics of a frontend away that is gone, or is no longer tried: alerts go by them. */
export function forgetProbe(registry: Registry, { namespace, name }: FrontendName): void {
  for (const family of Object.values(families(registry))) family.remove({ namespace, frontend: name });
}
