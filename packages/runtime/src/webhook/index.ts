export type { AdmissionContext, Default, Operation, RequestUser, Validate } from "./admission.ts";
export type { Certificates } from "./certificates.ts";
export type { DefaultRules, WebhookConfiguration, WebhookRules } from "./configurations.ts";
export { type WebhookAnswer, type WebhookCall, WebhookTimeoutError } from "./dispatch.ts";
export type { FromFilesOptions } from "./file-keeper.ts";
export { fromFiles } from "./from-files.ts";
export { deny, type FieldReason, invalid, Refusal } from "./refusal.ts";
export { type SelfManagedOptions, selfManaged } from "./self-managed.ts";
export {
  type AttachWebhooks,
  type ConvertibleKind,
  type WebhookServer,
  type WebhookServerOptions,
  webhookServer,
} from "./server.ts";
