import { ApiError, type Client, type ClusterAccess, KubeconfigError, TransportError } from "@windlass/client";
import { certificateFinding } from "./certificate.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

/** What findings of the server are about. */
const server = "API server";

/** The oldest minor version that the charts allow. */
const oldestMinor = 30;

interface ServerVersion {
  readonly gitVersion: string;
  readonly minor: string;
}

/** What to do about a kubeconfig that cannot be used. */
export function kubeconfigRemedy(error: unknown): string {
  return error instanceof KubeconfigError && error.code === "KUBECONFIG_INVALID"
    ? "correct it; kubectl config view shows what kubectl makes of it"
    : "get a kubeconfig from the cluster's administrator; windlass dev needs none";
}

const newKubeconfig = "get a new kubeconfig from the cluster's administrator";

/** What to do about a server that could not be asked, by the code of the error. */
const serverRemedies: Readonly<{ [code: string]: string }> = {
  CREDENTIALS_FAILED:
    "log in again with the tool of your cluster's provider, or install the program that the kubeconfig names under exec",
  API_UNAUTHORIZED: `log in again, or ${newKubeconfig}`,
  API_FORBIDDEN: "ask the cluster's administrator for the ClusterRole system:public-info-viewer",
  CERTIFICATE_EXPIRED: "is this machine's clock right? If so, the cluster's certificate has to be renewed",
  CERTIFICATE_UNTRUSTED: `set certificate-authority of the cluster in the kubeconfig, or ${newKubeconfig}`,
  CERTIFICATE_NAME_MISMATCH:
    "use one of the names that the certificate has, or set tls-server-name of the cluster in the kubeconfig",
  CLIENT_CERTIFICATE_REJECTED: newKubeconfig,
  TLS_MATERIAL_INVALID: `correct the certificates in the kubeconfig, or ${newKubeconfig}`,
  PROXY_FAILED: "check proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY",
};

function serverRemedy(error: unknown): string {
  const known =
    error instanceof ApiError || error instanceof TransportError ? serverRemedies[error.code] : undefined;
  return (
    known ??
    "is the context the right one (kubectl config get-contexts), and the cluster up? kubectl version asks it too"
  );
}

/** What the kubeconfig says, as far as that can be told without asking the server. */
export function examineAccess(access: ClusterAccess, now: number): readonly Finding[] {
  const { cluster, user, source } = access;
  const certificate = user.clientCertificateData;
  return [
    fine("Kubeconfig", `${source}: ${cluster.server}`),
    ...(certificate === undefined
      ? []
      : [
          certificateFinding(
            "Client certificate",
            Buffer.from(certificate, "base64").toString(),
            now,
            newKubeconfig,
          ),
        ]),
  ];
}

/** Whether the server answers, and how old it is. */
export async function examineServer(client: Client): Promise<Finding> {
  const began = performance.now();
  try {
    const { gitVersion, minor } = (await client.json({ path: "/version" })) as ServerVersion;
    const words = `${gitVersion}, answers in ${Math.round(performance.now() - began)} ms`;
    if (Number.parseInt(minor, 10) >= oldestMinor) return fine(server, words);
    return warning(server, words, `nothing older than 1.${oldestMinor} is tried: use a newer cluster`);
  } catch (error) {
    return serverFault(error);
  }
}

/** What is wrong with a server that could not be asked. */
export function serverFault(error: unknown): Finding {
  return fault(server, error instanceof Error ? error.message : String(error), serverRemedy(error));
}
