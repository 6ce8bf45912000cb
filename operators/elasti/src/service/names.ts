import { createHash } from "node:crypto";

const longestName = 63;

/** Ten hex digits of a Service's name, as the original has them in the names of its objects. */
function digestOf(service: string): string {
  return createHash("sha256").update(service).digest("hex").slice(0, 10);
}

function named(service: string, suffix: string, longest: number): string {
  const tail = `-${suffix}-${digestOf(service)}`;
  return `elasti-${service.slice(0, longest - "elasti-".length - tail.length)}${tail}`;
}

/**
 * The name of the private Service, which lists the target's pods whatever the public one selects.
 */
export function privateServiceName(service: string): string {
  return named(service, "pvt", longestName);
}

/** The name of the EndpointSlice that leads the public Service to the resolver. */
export function resolverSliceName(service: string): string {
  return named(service, "endpointslice-to-resolver", 253);
}

/** On the private Service and on what is made for an ElastiService: its name. */
export const serviceLabel = "elasti.truefoundry.com/service";

/**
 * A label that no pod has. While a Service's selector asks for it, the pods are out of the Service.
 * To put them back it is removed, so nothing has to be remembered.
 */
export const divertingLabel = "elasti.truefoundry.com/diverted-by";

/** Asks for the target to be awake, with how many requests wait; cleared once it is. */
export const wakeAnnotation = "elasti.truefoundry.com/wake";

/**
 * Set by a person who wants the target asleep now, whatever the triggers say; cleared once it is.
 */
export const sleepAnnotation = "elasti.truefoundry.com/sleep";

/**
 * Set by a person who wants the target awake until a time, such as `2026-12-24T18:00:00Z`, whatever
 * the triggers say. What is no time means until the annotation is removed.
 */
export const awakeUntilAnnotation = "elasti.truefoundry.com/awake-until";

/**
 * On a ScaledObject that was paused by this operator: what its pause annotations were before, as
 * JSON.
 */
export const pausedAnnotation = "elasti.truefoundry.com/paused-from";
