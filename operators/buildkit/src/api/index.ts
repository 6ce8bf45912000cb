export { openApiDocument } from "./openapi.ts";
export { Problem, type ProblemBody } from "./problem.ts";
export { revoke } from "./revoke.ts";
export { apiRights } from "./rights.ts";
export type { Route } from "./route.ts";
export { type AllocationApiOptions, allocationApi, apiRoutes } from "./runnable.ts";
