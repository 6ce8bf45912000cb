import { KubeconfigError } from "../errors.ts";
import type { Cluster, Kubeconfig, User } from "./kubeconfig.ts";

/** One cluster, as one user: what a connection is made from. */
export interface ClusterAccess {
  readonly cluster: Cluster;
  readonly user: User;
  /** The namespace to use where none is said. */
  readonly namespace: string;
  /** Where it came from, for messages. */
  readonly source: string;
}

/**
 * The cluster and user that a context names.
 *
 * @param context by name. @default the current one
 * @throws KubeconfigError if a name leads nowhere; the message lists the names there are.
 */
export function accessFor(config: Kubeconfig, context?: string): ClusterAccess {
  const name = context ?? config.currentContext;
  if (name === undefined && config.contexts.size === 0 && config.clusters.size === 0)
    return fail(
      config,
      "it is empty: it has neither contexts nor clusters; write one, or point KUBECONFIG at another file",
    );
  if (name === undefined)
    return fail(config, `current-context is not set; name a context: ${list(config.contexts)}`);
  const found = config.contexts.get(name);
  if (!found)
    return fail(
      config,
      `${context === undefined ? "current-context: " : ""}there is no context ${JSON.stringify(name)}; there are: ${list(config.contexts)}`,
    );
  if (found.fault) throw found.fault;
  const cluster = config.clusters.get(found.cluster);
  if (!cluster)
    return fail(
      config,
      `context ${JSON.stringify(name)}: there is no cluster ${JSON.stringify(found.cluster)}; there are: ${list(config.clusters)}`,
    );
  if (cluster.fault) throw cluster.fault;
  if (cluster.server === "")
    return fail(
      config,
      `cluster ${JSON.stringify(found.cluster)}: server is missing; set the API server's URL`,
    );
  const user = found.user === undefined ? {} : config.users.get(found.user);
  if (!user)
    return fail(
      config,
      `context ${JSON.stringify(name)}: there is no user ${JSON.stringify(found.user)}; there are: ${list(config.users)}`,
    );
  if (user.fault) throw user.fault;
  const { insecureSkipTlsVerify, certificateAuthority, certificateAuthorityData } = cluster;
  if (insecureSkipTlsVerify && (certificateAuthority || certificateAuthorityData))
    return fail(
      config,
      `cluster ${JSON.stringify(found.cluster)}: insecure-skip-tls-verify and certificate-authority exclude each other; remove the first`,
    );
  const pairs = [
    [user.clientCertificate ?? user.clientCertificateData, "client-certificate", "client-key"],
    [user.clientKey ?? user.clientKeyData, "client-key", "client-certificate"],
  ] as const;
  const [has, lacks] = [pairs.find(([value]) => value), pairs.find(([value]) => !value)];
  if (has && lacks)
    return fail(config, `user ${JSON.stringify(found.user)}: ${has[1]} is set, but not ${has[2]}`);
  return { cluster, user, namespace: found.namespace ?? "default", source: config.source };
}

function fail(config: Kubeconfig, fault: string): never {
  throw new KubeconfigError("KUBECONFIG_INVALID", `kubeconfig ${config.source}: ${fault}`);
}

function list(names: ReadonlyMap<string, unknown>): string {
  return names.size === 0 ? "none" : [...names.keys()].join(", ");
}
