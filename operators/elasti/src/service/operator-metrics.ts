import type { Runnable } from "@windlass/runtime";
import { ElastiService } from "./elasti-service.ts";
import { phaseOf } from "./position.ts";

/**
 * Reports of each service where its requests go, and where it is between awake and asleep. From the
 * cache, on every replica.
 */
export function operatorMetrics(): Runnable {
  return {
    name: "operator-metrics",
    stage: "everywhere",
    start: async ({ informer, metrics }) => {
      const services = informer(ElastiService);
      await services.synced;
      const named = ["namespace", "crd_name"];
      const mode = metrics.gauge({
        name: "elasti_operator_mode",
        help: "1 if the requests of a service go through the resolver, 0 if they go straight to its pods",
        labels: named,
      });
      const phase = metrics.gauge({
        name: "elasti_operator_phase",
        help: "1 for the phase that a service is in",
        labels: [...named, "phase"],
      });
      const replicas = metrics.gauge({
        name: "elasti_operator_target_replicas",
        help: "What the target of a service is scaled to",
        labels: named,
      });
      const shown = new Map<string, () => void>();
      const stop = mode.collect(() => {
        for (const forget of shown.values()) forget();
        shown.clear();
        for (const elasti of services.list()) {
          const { namespace, name } = elasti.metadata;
          const labels = { namespace, crd_name: name };
          const stage = { ...labels, phase: phaseOf(elasti) };
          mode.set(elasti.status?.mode === "proxy" ? 1 : 0, labels);
          phase.set(1, stage);
          replicas.set(elasti.status?.targetReplicas ?? 0, labels);
          shown.set(`${namespace}/${name}`, () => {
            mode.remove(labels);
            phase.remove(stage);
            replicas.remove(labels);
          });
        }
      });
      return () => {
        stop();
        services.release();
      };
    },
  };
}
