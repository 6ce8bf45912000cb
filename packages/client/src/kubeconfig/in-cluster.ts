import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterAccess } from "./access.ts";

/** Where a pod finds its service account. For tests. */
export interface InClusterOptions {
  /** @default the process' */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Where the kubelet mounts the service account.
   *
   * @default "/var/run/secrets/kubernetes.io/serviceaccount"
   */
  readonly folder?: string;
}

/**
 * The cluster this process runs in, as its pod's service account; undefined outside of one. The
 * token and the CA are read again when the kubelet replaces them.
 */
export async function inClusterAccess(options: InClusterOptions = {}): Promise<ClusterAccess | undefined> {
  const env = options.env ?? process.env;
  const folder = options.folder ?? "/var/run/secrets/kubernetes.io/serviceaccount";
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) return undefined;
  const tokenFile = join(folder, "token");
  if ((await readIfPresent(tokenFile)) === undefined) return undefined;
  const namespace = (await readIfPresent(join(folder, "namespace")))?.trim();
  return {
    cluster: {
      server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
      certificateAuthority: join(folder, "ca.crt"),
    },
    user: { tokenFile },
    namespace: namespace || "default",
    source: "the pod's service account",
  };
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
