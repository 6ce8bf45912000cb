import type { ElastiServiceObject } from "./elasti-service.ts";
import { ServiceFault } from "./fault.ts";
import { phaseOf } from "./position.ts";
import type { StageName } from "./stage.ts";

/** Finds ElastiServices of one namespace. */
export interface Neighbours {
  /** By name. */
  find(name: string): ElastiServiceObject | undefined;
  /** Those that depend on one of this name. */
  dependentsOf(name: string): readonly ElastiServiceObject[];
}

const serving: readonly StageName[] = ["Serving", "Relaying", "Returning", "Joining", "Diverting"];
const sleeping: readonly StageName[] = ["ScalingDown", "Terminating", "Asleep"];

/**
 * Whether all that a service depends on is awake.
 *
 * @throws ServiceFault for one that is missing, and for a cycle
 */
export function areDependenciesAwake(elasti: ElastiServiceObject, neighbours: Neighbours): boolean {
  checkAcyclic(elasti, neighbours, []);
  return (elasti.spec.dependsOn ?? []).every((name) => {
    const found = neighbours.find(name);
    if (!found)
      throw new ServiceFault("DependencyMissing", `spec.dependsOn: there is no ElastiService ${name}`);
    return serving.includes(phaseOf(found));
  });
}

/** What those that depend on a service ask of it: nothing, to stay awake, or to wake up. */
export function askedByDependents(name: string, neighbours: Neighbours): "nothing" | "stay" | "wake" {
  const phases = neighbours.dependentsOf(name).map(phaseOf);
  if (phases.includes("Waking")) return "wake";
  return phases.some((phase) => !sleeping.includes(phase)) ? "stay" : "nothing";
}

function checkAcyclic(elasti: ElastiServiceObject, neighbours: Neighbours, path: readonly string[]): void {
  const { name } = elasti.metadata;
  if (path.includes(name)) {
    const cycle = [...path.slice(path.indexOf(name)), name].join(" → ");
    throw new ServiceFault("DependencyCycle", `spec.dependsOn: ${cycle} is a cycle`);
  }
  for (const dependency of elasti.spec.dependsOn ?? []) {
    const found = neighbours.find(dependency);
    if (found) checkAcyclic(found, neighbours, [...path, name]);
  }
}
