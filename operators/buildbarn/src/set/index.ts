export {
  type BuildbarnSet,
  type ComponentKind,
  type ComponentObject,
  setFrom,
  setOf,
  watchSet,
} from "./buildbarn-set.ts";
export {
  browserConfiguration,
  type CheckedConfiguration,
  type ComponentConfiguration,
  checkComponent,
  frontendConfiguration,
  type OwnConfiguration,
  schedulerConfiguration,
  storageConfiguration,
  workerConfiguration,
} from "./component-configuration.ts";
export { ConfigurationChecks } from "./configuration-checks.ts";
export { SetFault } from "./fault.ts";
export {
  browserUrl,
  frontendAddress,
  internalName,
  isGuarded,
  platformOf,
  platformQueues,
  reshardingOf,
  schedulerOf,
  schedulerRoutes,
  seconds,
  shardsOfSet,
  storageOf,
} from "./relations.ts";
