export { type AddressBlock, claimBlock } from "./address-block.ts";
export type { ContainerRun } from "./container-run.ts";
export type { Observed } from "./observed.ts";
export type { ImageProgram, ProcessOptions } from "./options.ts";
export { ProcessRuntime, type RunOf, type RuntimeDependencies } from "./runtime.ts";
export { startServiceProxy } from "./service-proxy.ts";
