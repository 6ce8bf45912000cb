export { goText } from "./go-text.ts";
export { applyJsonPatch, PatchedDocument } from "./json-patch.ts";
export {
  decodeManagers,
  type ManagerIdentity,
  type Managers,
  managedFieldsOf,
  managersInSteps,
  withManagers,
} from "./managed-fields.ts";
export { applyMergePatch } from "./merge-patch.ts";
export { type ScaledObject, withScaledManagers, withScaleManagers } from "./scale-managers.ts";
export { describe, mergeApplied, type ServerSideApply, serverSideApply } from "./server-side-apply.ts";
export { applyStrategicMergePatch } from "./strategic-patch.ts";
export { managersAfter, noOp, type TrackedUpdate, trackUpdate, type WriteContext } from "./track-update.ts";
export { ConversionError, type Convert } from "./updater.ts";
