export {
  type BuildbarnSet,
  type ComponentKind,
  type ComponentObject,
  componentKinds,
  isComponent,
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
  authoritiesKey,
  authoritiesOfStorage,
  certificateOf,
  type SetTls,
  tlsOf,
  tlsOfStorage,
  withAuthorities,
} from "./internal-tls.ts";
export {
  connectionTo,
  mountedCertificate,
  type OperatorCertificate,
  operatorCertificateDirectory,
  operatorSecret,
  withoutCertificate,
} from "./operator-certificate.ts";
export {
  browserUrl,
  frontendOf,
  hasInternalWay,
  internalName,
  isGuarded,
  layoutOf,
  platformOf,
  platformQueues,
  reshardingOf,
  ringName,
  schedulerOf,
  schedulerRoutes,
  seconds,
  shardsOfSet,
  storageOf,
} from "./relations.ts";
