export {
  type Configured,
  type ConfigureInput,
  configure,
  podConfiguration,
  type Refused,
} from "./configured.ts";
export { type DeploymentInput, type DeploymentSeen, deploymentOf } from "./deployment.ts";
export {
  budgetFor,
  type IngressFields,
  ingressFor,
  internalServiceFor,
  type Made,
  metricsServiceFor,
  networkPolicyFor,
  operatorPods,
  podsOf,
  serviceFor,
  shardClients,
} from "./objects.ts";
export {
  buildbarnUser,
  configMount,
  configVolume,
  type PodConfiguration,
  podTemplate,
  podVariables,
  probes,
  programContainer,
  restricted,
  restrictedPod,
  type TemplateInput,
} from "./pod.ts";
export { refusedPods } from "./refused-pods.ts";
export { type ComponentSeen, componentStatusOf, type Held, wantedOf } from "./status.ts";
export { afterWorkers, type StopDependencies, stopPods } from "./stop-pods.ts";
export {
  revisionOf,
  type Trial,
  trialLookMs,
  trialName,
  trialOf,
  waitingJob,
  withRevision,
} from "./trial.ts";
export {
  type ComponentContext,
  deploymentKinds,
  eventPermission,
  ownConfigMap,
  podsOfComponent,
  seenOf,
  trialRefusal,
  watchPods,
} from "./watches.ts";
