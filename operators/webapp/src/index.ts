export { webapp } from "./controller.ts";
export { WebApp } from "./webapp.ts";
