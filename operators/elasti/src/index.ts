export { type Operator, operator, operatorRules } from "./operator.ts";
export * from "./resolver/index.ts";
export { resolverProgram, resolverRules } from "./resolver-program.ts";
export { type ElastiDependencies, elastiController } from "./service/controller.ts";
export { ElastiService, type ElastiServiceObject, finalizer } from "./service/elasti-service.ts";
export { awakeUntilAnnotation, sleepAnnotation, wakeAnnotation } from "./service/names.ts";
export { OperatorSettings, ResolverSettings, SettingsError, settingsFrom } from "./settings.ts";
