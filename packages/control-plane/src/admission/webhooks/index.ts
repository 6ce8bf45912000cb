export { WebhookClient } from "./client.ts";
export { webhookConversion } from "./conversion.ts";
export { mutatingWebhooks } from "./mutating.ts";
export {
  type ServiceReference,
  Services,
  type ServiceTarget,
  type WebhookAnswer,
  type WebhookCall,
  type WebhookHandler,
} from "./services.ts";
export { validatingWebhooks } from "./validating.ts";
