export { type PoolName, poolText } from "./pool-name.ts";
export * from "./tokens/index.ts";
