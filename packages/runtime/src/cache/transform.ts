import type { AnyKind, KubernetesObject, Log } from "@windlass/client";
import { countOf, type LogThrottle } from "../logging/log-throttle.ts";
import { kindIdOf } from "./kind-id.ts";

/** What a guarded transform needs to log what the user's throws. */
export interface TransformParts {
  readonly kind: AnyKind;
  readonly log: Log;
  readonly throttle: LogThrottle;
}

/** A transform that does not throw: it gives undefined where the user's does. */
export type GuardedTransform = (object: KubernetesObject) => KubernetesObject | undefined;

/**
 * Guards a transform. An object that it throws for is kept as it came: one must not keep all others
 * from being cached.
 */
export function guardTransform(
  transform: Transform,
  { kind, log, throttle }: TransformParts,
): GuardedTransform {
  return (object) => {
    const { namespace, name } = object.metadata;
    try {
      return transform(object);
    } catch (error) {
      const decision = throttle.record(`transform of ${kindIdOf(kind)}`);
      const place = namespace ? `${namespace}/${name}` : name;
      if (decision.as !== "suppressed")
        log.error(
          { err: error, kind: kind.kind, object: place, ...countOf(decision) },
          `the transform of ${kind.kind} threw for ${place}; objects that it throws for are kept as they came`,
        );
      return undefined;
    }
  };
}

/**
 * Changes an object before it is stored. Gets a copy of its own, and may change and return that.
 */
export type Transform = (object: KubernetesObject) => KubernetesObject;
