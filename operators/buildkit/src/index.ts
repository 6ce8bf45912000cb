export * from "./certificates/index.ts";
export * from "./gateway/index.ts";
export { type PoolName, poolText } from "./pool-name.ts";
export type { RotationStep } from "./rotation.ts";
export * from "./tokens/index.ts";
