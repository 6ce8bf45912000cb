export { type AllocationApiOptions, allocationApi } from "./api/index.ts";
export * from "./certificates/index.ts";
export * from "./gateway/index.ts";
export {
  affinityAnnotation,
  apiName,
  apiTrustName,
  cacheVolumeName,
  clusterSecrets,
  gatewayPort,
  lastUsedAnnotation,
  leaseName,
  operatorName,
  poolLabel,
  poolNames,
  workerLabel,
  workerName,
  workerPort,
  workerTlsSecretName,
} from "./names.ts";
export { BuildKitOIDCConfig, type OIDCConfig } from "./oidc/oidc-config.ts";
export { controllers, type OperatorOptions } from "./operator.ts";
export * from "./pool/index.ts";
export { type PoolName, poolText } from "./pool-name.ts";
export { BuildKitRequest, type WaitingRequest } from "./request/request.ts";
export type { RotationStep } from "./rotation.ts";
export { spanMs } from "./span.ts";
export * from "./tokens/index.ts";
export * from "./worker/index.ts";
export type { BuildProbe } from "./worker/probe.ts";
