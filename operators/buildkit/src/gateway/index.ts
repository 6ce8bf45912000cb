export { CredentialFiles, type CredentialFolders } from "./credential-files.ts";
export { checkCredentials, type GatewayCredentials } from "./credentials.ts";
export type { WorkerCredentials } from "./dialer.ts";
export { Gateway, type GatewayDrain, type GatewayLimits, type GatewayOptions } from "./gateway.ts";
export { type Route, RoutingTable, type WorkerAddress, type WorkerLookup } from "./lookup.ts";
export { type GatewayRunnableOptions, gateway, gatewayShutdownMs } from "./runnable.ts";
export { routeOf, WorkerRoutes, workerLookup } from "./worker-routes.ts";
