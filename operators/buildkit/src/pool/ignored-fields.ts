import type { Pool } from "./pool.ts";

/**
 * The fields that a pool sets and that have no effect: they are the original's, and meant nothing
 * there either.
 */
export function ignoredFields({ scaling, resources, cache, tls, auth }: Pool["spec"]): readonly string[] {
  const fields = {
    "spec.scaling.targetCPUUtilization": scaling.targetCPUUtilization !== undefined,
    "spec.scaling.targetMemoryUtilization": scaling.targetMemoryUtilization !== undefined,
    "spec.resources.sidecar": resources.sidecar !== undefined && Object.keys(resources.sidecar).length > 0,
    "spec.cache.gc.schedule": cache.gc.schedule !== undefined,
    "spec.cache.backends[].registry.credentialsSecret": cache.backends.some(
      ({ registry }) => registry?.credentialsSecret,
    ),
    "spec.tls.enabled": !tls.enabled,
    "spec.auth.methods[].mtls.required": auth.methods.some(({ mtls }) => mtls?.required === false),
    "spec.auth.methods[].mtls.clientCASecret": auth.methods.some(({ mtls }) => mtls?.clientCASecret),
  };
  return Object.entries(fields).flatMap(([field, isSet]) => (isSet ? [field] : []));
}
