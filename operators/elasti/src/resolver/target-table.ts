import { type Endpoint, type ServiceKey, serviceKey, type Target, type TargetLookup } from "./targets.ts";

/**
 * A lookup in memory. The watches of ElastiServices and EndpointSlices fill it.
 */
export class TargetTable implements TargetLookup {
  readonly #targets = new Map<ServiceKey, Target>();
  /** By service, then by the name of the port. */
  readonly #endpoints = new Map<ServiceKey, ReadonlyMap<string, readonly Endpoint[]>>();
  readonly #listeners = new Set<(key: ServiceKey) => void>();
  #isFilled = false;

  find(key: ServiceKey): Target | undefined {
    return this.#targets.get(key);
  }

  all(): Iterable<Target> {
    return this.#targets.values();
  }

  endpoints(key: ServiceKey, portName: string): readonly Endpoint[] {
    return this.#endpoints.get(key)?.get(portName) ?? [];
  }

  onChange(listener: (key: ServiceKey) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  fault(): string | undefined {
    return this.#isFilled ? undefined : "the services have not been listed yet";
  }

  /** Adds a target, or replaces the one of the same name. */
  set(target: Target): void {
    const key = serviceKey(target.namespace, target.service);
    this.#targets.set(key, target);
    this.#changed(key);
  }

  delete(key: ServiceKey): void {
    this.#endpoints.delete(key);
    if (this.#targets.delete(key)) this.#changed(key);
  }

  /**
   * Sets the ready endpoints of a target, by the name of the port. They may come before the target
   * does.
   */
  setEndpoints(key: ServiceKey, byPort: ReadonlyMap<string, readonly Endpoint[]>): void {
    this.#endpoints.set(key, byPort);
    if (this.#targets.has(key)) this.#changed(key);
  }

  /** Marks that all targets that exist have been set. */
  markFilled(): void {
    this.#isFilled = true;
  }

  #changed(key: ServiceKey): void {
    for (const listener of this.#listeners) listener(key);
  }
}
