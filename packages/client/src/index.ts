export * from "./object.ts";
export * from "./transport.ts";
export * from "./verbs.ts";
