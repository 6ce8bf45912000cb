export { type InternalServer, startInternalServer } from "./internal-server.ts";
export { OperatorWaker, WakeRefusedError } from "./operator-waker.ts";
export { pathProbeHeader } from "./request.ts";
export { Resolver, type ResolverDrain, type ResolverLimits, type ResolverOptions } from "./resolver.ts";
export { type ResolverRunnableOptions, resolver, resolverShutdownMs, type TargetSource } from "./runnable.ts";
export { TargetTable } from "./target-table.ts";
export type {
  Dispatch,
  Endpoint,
  PortProtocol,
  ProbeResponse,
  ServiceKey,
  ServiceTraffic,
  Target,
  TargetLimits,
  TargetLookup,
  TargetPort,
  ValueMatch,
  WaitingPage,
  WakeDemand,
  Waker,
} from "./targets.ts";
export { serviceKey } from "./targets.ts";
