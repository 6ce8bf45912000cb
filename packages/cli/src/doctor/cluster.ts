import type { Client, ClusterAccess } from "@windlass/client";
import { certificateFinding } from "./certificate.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

/** The oldest minor version that the charts allow. */
const oldestMinor = 30;

interface ServerVersion {
  readonly gitVersion: string;
  readonly minor: string;
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
            "get a new kubeconfig from whoever runs the cluster",
          ),
        ]),
  ];
}

/** Whether the server answers, and how old it is. */
export async function examineServer(client: Client): Promise<Finding> {
  const about = "API server";
  const began = performance.now();
  try {
    const { gitVersion, minor } = (await client.json({ path: "/version" })) as ServerVersion;
    const words = `${gitVersion}, answers in ${Math.round(performance.now() - began)} ms`;
    if (Number.parseInt(minor, 10) >= oldestMinor) return fine(about, words);
    return warning(about, words, `nothing older than 1.${oldestMinor} is tried: use a newer cluster`);
  } catch (error) {
    return fault(
      about,
      error instanceof Error ? error.message : String(error),
      "is the context the right one (kubectl config get-contexts), and the cluster up? kubectl version asks it too",
    );
  }
}
