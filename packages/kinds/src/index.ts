export { conditionOf } from "./condition.ts";
export * from "./object.ts";
export { controllerOf, groupOf } from "./owner.ts";
