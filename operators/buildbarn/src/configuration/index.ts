export { type Access, jwksDirectory, tlsDirectory } from "./access.ts";
export { type CheckLimits, checkBounded } from "./bounded-check.ts";
export { bytes } from "./bytes.ts";
export { type Checked, type Configuration, checkConfiguration } from "./check.ts";
export {
  browserDocument,
  commonDocument,
  frontendDocument,
  type PlatformQueue,
  runnerDocument,
  type SchedulerRoute,
  type StoreInput,
  schedulerDocument,
  storageDocument,
  workerDirectory,
  workerDocument,
} from "./components.ts";
export type { Document } from "./document.ts";
export { commonFile, componentFiles, overridesFile } from "./files.ts";
export { type InternalTls, internalTlsDirectory } from "./internal-tls.ts";
export { type PlatformProperty, sorted } from "./platform-order.ts";
export { ports } from "./ports.ts";
export { camelCase } from "./schema/check.ts";
export type { Shards } from "./shard-map.ts";
export { defaultVersion, type Program, profiles, type Version, versions } from "./versions.ts";
