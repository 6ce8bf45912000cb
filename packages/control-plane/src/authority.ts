import { generateKeyPairSync } from "node:crypto";
import { type Authority, createAuthority } from "@windlass/certificates";
import { type Random, systemClock, systemRandom } from "@windlass/clock";
import type { Requester } from "./registry/admission.ts";
import type { DataFile } from "./storage/data-file.ts";

/** The user behind a control plane's own kubeconfig: may do everything. */
export const administrator: Requester = {
  name: "kubernetes-admin",
  groups: ["system:masters", "system:authenticated"],
};

const year = 365 * 24 * 3_600_000;

/** A certificate and its key, as PEM. */
type Pair = ReturnType<Authority["issue"]>;

/** The authority of a new control plane. Peers check dates by the machine's clock. */
export function newAuthority(random: Random): Authority {
  return createAuthority({
    commonName: "windlass-control-plane",
    validFor: 10 * year,
    clock: systemClock,
    random,
  });
}

/** A certificate for the API server. @param host where it listens */
export function servingPair(authority: Authority, host: string): Pair {
  return authority.issue({
    commonName: "kube-apiserver",
    dnsNames: [
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
    ],
    ipAddresses: [...new Set(["127.0.0.1", "::1", ...(/^[\d.]+$|:/.test(host) ? [host] : [])])],
    usages: ["server"],
    validFor: year,
  });
}

/** A certificate for the {@link administrator}. */
export function administratorPair(authority: Authority): Pair {
  return authority.issue({
    commonName: administrator.name,
    organizations: ["system:masters"],
    usages: ["client"],
    validFor: year,
  });
}

/** Opens a data file; a new one is given keys. */
export async function openData(path: string): Promise<DataFile> {
  const { DataFile } = await import("./storage/data-file.ts");
  return DataFile.open(path, () => {
    const { certificate, key } = newAuthority(systemRandom);
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const tokenKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { authority: { certificate, key }, tokenKey };
  });
}
