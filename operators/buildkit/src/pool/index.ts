export { BuildKitPool, type Pool } from "./pool.ts";
