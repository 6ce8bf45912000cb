export type {
  ServiceTarget,
  WebhookAnswer,
  WebhookCall,
  WebhookHandler,
} from "./admission/webhooks/index.ts";
export type { ApiServerSettings, ListenOptions, ServiceAccountTokenSettings } from "./api-server-settings.ts";
export { administrator } from "./authority.ts";
export type { ControlPlaneOptions, Write } from "./control-plane.ts";
export type { ControllerChoice, ControllerName } from "./controllers/index.ts";
export type { Fault, FaultError, FaultHandle, Faults, FaultTarget, Verb } from "./faults/index.ts";
export type { ApiRequest, ApiResponse } from "./http/request.ts";
export type { InProcessRequest, InProcessResponse, InProcessTransport } from "./in-process.ts";
export {
  annotations as podAnnotations,
  type Behavior,
  type BehaviorKind,
  type ImageSelector,
  type NodeChoice,
  type NodeSpec,
  type PodSelector,
  type SimulatedNodes,
} from "./node/index.ts";
export { PANIC_CHANNEL, type Panic } from "./panic.ts";
export type { ImageProgram, ProcessOptions } from "./processes/index.ts";
export { ControlPlane } from "./public-face.ts";
export type { Requester } from "./registry/admission.ts";
export { StatusError } from "./status.ts";
