import type { Pod, Service } from "@windlass/kinds/builtin";
import { podCondition } from "../../controllers/pods.ts";
import { textOf } from "../../json.ts";
import type { Stored } from "../../storage/typed.ts";

/** What a service's endpoints were last made from. */
interface ObservedTrigger {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * Finds out when what endpoints are made from last changed: the earliest change of a pod's
 * readiness since the last look, or the creation of a service that is new. Nothing has a time when
 * only labels changed, or a pod went away.
 */
export class EndpointTriggers {
  readonly #seen = new Map<string, ObservedTrigger>();

  /** @returns undefined if nothing that has a time has changed since it was last asked */
  next(key: string, service: Stored<Service>, pods: readonly Stored<Pod>[]): string | undefined {
    const before = this.#seen.get(key);
    const created = textOf(service.metadata.creationTimestamp);
    const times = new Map<string, string>();
    const changed: string[] = [];
    for (const pod of pods) {
      const time = textOf(podCondition(pod, "Ready")?.lastTransitionTime);
      if (time === "") continue;
      times.set(pod.metadata.name, time);
      if (time > (before?.pods.get(pod.metadata.name) ?? "")) changed.push(time);
    }
    if (created > (before?.service ?? "")) changed.push(created);
    this.#seen.set(key, { service: created, pods: times });
    return before ? changed.sort()[0] : created;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}
