export type {
  ServiceTarget,
  WebhookAnswer,
  WebhookCall,
  WebhookHandler,
} from "./admission/webhooks/index.ts";
export { administrator, ControlPlane, type ControlPlaneOptions } from "./control-plane.ts";
export type { Fault, FaultError, FaultHandle, Faults, FaultTarget, Verb } from "./faults/index.ts";
export type { ApiRequest, ApiResponse } from "./http/request.ts";
export type { Door, DoorRequest, DoorResponse } from "./in-process.ts";
export type { Requester } from "./registry/admission.ts";
export { StatusError } from "./status.ts";
