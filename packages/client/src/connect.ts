import { Client, type ClientOptions } from "./client.ts";
import { type ConnectionOptions, openTransport } from "./connection.ts";
import { KubeconfigError } from "./errors.ts";
import { accessFor, type ClusterAccess } from "./kubeconfig/access.ts";
import { inClusterAccess } from "./kubeconfig/in-cluster.ts";
import type { Kubeconfig } from "./kubeconfig/kubeconfig.ts";
import { loadKubeconfig } from "./kubeconfig/load.ts";

/**
 * Which cluster {@link connect} connects to, and all options of a client and its connection.
 */
export interface ConnectOptions extends ConnectionOptions, Omit<ClientOptions, "transport"> {
  /**
   * A path, or a kubeconfig already read.
   *
   * @default KUBECONFIG, else ~/.kube/config, else the pod's service account
   */
  readonly kubeconfig?: string | Kubeconfig;
  /**
   * A cluster and user found before, as by {@link findAccess}: nothing is looked up.
   *
   * @default looked up
   */
  readonly access?: ClusterAccess;
  /** Which context of it. @default the current one */
  readonly context?: string;
}

/**
 * A client for the cluster that kubectl would talk to from here, or, in a pod, for the pod's own.
 * Nothing is sent yet: a server that is down shows itself with the first request.
 *
 * @throws KubeconfigError if there is no configuration, or it cannot be used.
 *
 * @example
 * await using client = await connect({ fieldManager: "my-operator" });
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const access = await findAccess(options);
  return new Client({ protobuf: true, ...options, transport: openTransport(access, options) });
}

/** The cluster and user that {@link connect} would use. */
export async function findAccess(
  options: Pick<ConnectOptions, "access" | "kubeconfig" | "context" | "env"> = {},
): Promise<ClusterAccess> {
  const { kubeconfig, context, env } = options;
  if (options.access) return options.access;
  if (typeof kubeconfig === "object") return accessFor(kubeconfig, context);
  const config = await loadKubeconfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(env ? { env } : {}),
  });
  if (config) return accessFor(config, context);
  const inCluster = await inClusterAccess(env ? { env } : {});
  if (inCluster) return inCluster;
  const listed = (env ?? process.env).KUBECONFIG;
  throw new KubeconfigError(
    "KUBECONFIG_NOT_FOUND",
    listed
      ? `KUBECONFIG is ${JSON.stringify(listed)}, and there is no such file; correct it, or unset it to use ~/.kube/config`
      : "no cluster is configured: KUBECONFIG is not set, there is no ~/.kube/config, and this is not a pod with a service account; set KUBECONFIG to the path of a kubeconfig",
  );
}
