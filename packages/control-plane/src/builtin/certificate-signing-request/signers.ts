import type { KeyUsage, SigningRequest, Usage } from "@windlass/certificates";

/** Why a signer refuses a request; undefined if it signs it. */
export type SignerRule = (request: SigningRequest, usages: readonly string[]) => string | undefined;

const nodeGroup = "system:nodes";
const nodePrefix = "system:node:";

/** A node's own usages, with or without the one that only RSA keys need. */
function areNodeUsages(usages: readonly string[], purpose: "client auth" | "server auth"): boolean {
  const left = new Set(usages);
  left.delete("key encipherment");
  return left.size === 2 && left.has("digital signature") && left.has(purpose);
}

function nodeFault({ subject, names }: SigningRequest): string | undefined {
  if (subject.organizations.length !== 1 || subject.organizations[0] !== nodeGroup)
    return `subject organization is not ${nodeGroup}`;
  const refused = [
    ["dns", "DNS"],
    ["email", "Email"],
    ["ip", "IP"],
    ["uri", "URI"],
  ] as const;
  for (const [type, word] of refused) {
    if (names.some((name) => name.type === type)) return `${word} subjectAltNames are not allowed`;
  }
  return subject.commonName.startsWith(nodePrefix)
    ? undefined
    : `subject common name does not begin with ${nodePrefix} `;
}

/** Whether a request is a kubelet's, for the certificate by which it is known to the API server. */
export const kubeletClient: SignerRule = (request, usages) =>
  nodeFault(request) ??
  (areNodeUsages(usages, "client auth")
    ? undefined
    : "usages did not match [client auth digital signature key encipherment]");

const kubeletServing: SignerRule = ({ subject, names }, usages) => {
  const has = (type: string) => names.some((name) => name.type === type);
  if (subject.organizations.length !== 1 || subject.organizations[0] !== nodeGroup)
    return `subject organization is not ${nodeGroup}`;
  if (!subject.commonName.startsWith(nodePrefix))
    return `subject common name does not begin with ${nodePrefix} `;
  if (!has("dns") && !has("ip")) return "DNS or IP subjectAltName is required";
  if (has("email")) return "Email subjectAltNames are not allowed";
  if (has("uri")) return "URI subjectAltNames are not allowed";
  return areNodeUsages(usages, "server auth")
    ? undefined
    : "usages did not match [digital signature key encipherment server auth]";
};

const apiServerClient: SignerRule = (_request, usages) => {
  const other = usages.find(
    (usage) => !["digital signature", "key encipherment", "client auth"].includes(usage),
  );
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes("client auth")
    ? undefined
    : "missing required usage for client certificate: client auth";
};

/** The signers whose requests this cluster's authority signs, and what each asks of them. */
export const signerRules: ReadonlyMap<string, SignerRule> = new Map([
  ["kubernetes.io/kube-apiserver-client", apiServerClient],
  ["kubernetes.io/kube-apiserver-client-kubelet", kubeletClient],
  ["kubernetes.io/kubelet-serving", kubeletServing],
]);

/** A request's usages in the words of certificates. */
export function grantedUsages(usages: readonly string[]): { usages: Usage[]; keyUsages: KeyUsage[] } {
  return {
    usages: [
      ...(usages.includes("server auth") ? (["server"] as const) : []),
      ...(usages.includes("client auth") ? (["client"] as const) : []),
    ],
    keyUsages: [
      ...(usages.includes("digital signature") ? (["digitalSignature"] as const) : []),
      ...(usages.includes("key encipherment") ? (["keyEncipherment"] as const) : []),
    ],
  };
}
