import { type ManagerOptions, manager } from "@windlass/runtime";
import { site } from "./site.ts";

/** Somebody that the operator depends on. */
export interface Registrar {
  ping(): Promise<void>;
  /** How many names wait there. */
  pending(): number;
}

export function operator(registrar: Registrar, options: ManagerOptions = {}) {
  const running = manager(options)
    .add(site)
    .addReadyCheck("registrar", () => registrar.ping());
  running.registry
    .gauge({ name: "site_registrar_pending", help: "Names that wait at the registrar" })
    .collect((gauge) => gauge.set(registrar.pending()));
  return running;
}
