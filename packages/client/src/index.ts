export * from "@windlass/kinds";
export {
  formatSelector,
  type LabelSelector,
  matchesSelector,
  parseSelector,
  type Requirement,
  requirementsOf,
  SelectorError,
} from "@windlass/kinds/selector";
export { Client, type ClientOptions, type ProtobufReader, type Subresource } from "./client.ts";
export { type ConnectOptions, connect, findAccess } from "./connect.ts";
export { type ConnectionOptions, openTransport } from "./connection.ts";
export type { Credential, Credentials } from "./credential.ts";
export { credentialsFor } from "./credentials.ts";
export { Discovery, type DiscoveryFetch, type ServedResource, type ServedSubresource } from "./discovery.ts";
export * from "./errors.ts";
export { authenticate } from "./intercept/authenticate.ts";
export { impersonate } from "./intercept/impersonate.ts";
export {
  type ObserveOptions,
  observe,
  REQUEST_CHANNEL,
  type RequestOutcome,
  type RequestSpan,
  type ResponseSize,
  trace,
} from "./intercept/observe.ts";
export { type Retry, type RetryOptions, retry } from "./intercept/retry.ts";
export { accessFor, type ClusterAccess } from "./kubeconfig/access.ts";
export { type InClusterOptions, inClusterAccess } from "./kubeconfig/in-cluster.ts";
export type {
  Cluster,
  Context,
  ExecConfig,
  Faulty,
  Impersonation,
  Kubeconfig,
  User,
} from "./kubeconfig/kubeconfig.ts";
export { type KubeconfigLocation, loadKubeconfig } from "./kubeconfig/load.ts";
export { parseKubeconfig } from "./kubeconfig/parse.ts";
export { type KubeconfigContent, kubeconfigFor } from "./kubeconfig/write.ts";
export { splitLines } from "./lines.ts";
export type { Log } from "./log.ts";
export { applyManifest, kindOfManifest, UnknownKindError } from "./manifest.ts";
export type { TlsMaterial } from "./network/dial.ts";
export { type NetworkOptions, networkTransport } from "./network/transport.ts";
export { compareResourceVersions } from "./resource-version.ts";
export type { ServerVersion } from "./server-version.ts";
export * from "./transport.ts";
export type { RawRequest } from "./verbs.ts";
export * from "./verbs.ts";
export { parseWarnings, type WarningHandler, warnOnce } from "./warning.ts";
