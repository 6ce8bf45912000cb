export type { KubernetesVersion } from "@windlass/kinds/recorded";
export { builtinKinds, kubernetesVersion } from "./builtin.ts";
export {
  compareVersions,
  type GroupInfo,
  type GroupVersionKind,
  type KindInfo,
  KindTable,
  type PrinterColumn,
  type SubresourceInfo,
} from "./kind-table.ts";
export { DecodeError, normalize, normalizeAs, normalizeInSteps, type Stage } from "./round-trip.ts";
export { builtinSchema, schemaOfType, typeNameOf } from "./schemas.ts";
export { storageVersionHash } from "./storage-version.ts";
export { formatTime, parseTime, TimeError } from "./time.ts";
