export { builtinKinds, kubernetesVersion } from "./builtin.ts";
export {
  compareVersions,
  type GroupInfo,
  type GroupVersionKind,
  type KindInfo,
  KindTable,
  type SubresourceInfo,
} from "./kind-table.ts";
export type { KubernetesVersion } from "./recorded.ts";
export { builtinSchema, schemaOfType } from "./schemas.ts";
