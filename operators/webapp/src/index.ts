export { webapp } from "./controller.ts";
export { type App, WebApp } from "./webapp.ts";
export { Policy, webhooks } from "./webhooks.ts";
