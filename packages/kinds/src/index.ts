export * from "./object.ts";
