export type { Verb } from "../http/request-info.ts";
export type { Fault, FaultError, FaultTarget } from "./fault.ts";
export { type FaultHandle, Faults } from "./faults.ts";
