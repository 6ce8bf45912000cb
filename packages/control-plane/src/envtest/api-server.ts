import { createPrivateKey } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiServerSettings, ListenOptions } from "../api-server-settings.ts";
import { ControlPlane } from "../control-plane.ts";
import { apiServerFlags } from "./api-server-flags.ts";
import { dataFileBehind } from "./data-location.ts";
import { type GivenFlags, lastOf, listOf, readFlags } from "./flags.ts";
import { readPublicKeys, readTokenFile } from "./key-files.ts";
import { disabledVersions } from "./runtime-config.ts";

/**
 * Stands in for `kube-apiserver`, with its flags: an API server with no controllers but what the
 * real one has inside it. Runs until it is asked to stop, and keeps its data where the `etcd`
 * beside it says.
 */
export async function runApiServer(args: readonly string[]): Promise<void> {
  const flags = readFlags(args, apiServerFlags);
  const data = await dataFileBehind(
    listOf(flags, "etcd-servers"),
    lastOf(flags, "etcd-prefix") ?? "/registry",
  );
  const plane = await ControlPlane.start({ controllers: "none", data, apiServer: settingsOf(flags) });
  for (const name of listOf(flags, "enable-admission-plugins").filter((plugin) => !has(plane, plugin))) {
    process.stderr.write(
      `kube-apiserver: --enable-admission-plugins: there is no ${name} here, it is ignored\n`,
    );
  }
  const stop = () => void plane.close().then(() => process.exit(0));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    const url = await plane.listen(listenOptions(flags, plane));
    process.stderr.write(`kube-apiserver: Serving securely on ${new URL(url).host}\n`);
  } catch (error) {
    await plane.close();
    throw error;
  }
}

/** Plugins that are part of another one here. */
const parts: Readonly<Record<string, string>> = {
  CertificateApproval: "CertificateApprovalAndSigning",
  CertificateSigning: "CertificateApprovalAndSigning",
};

function has({ registry }: ControlPlane, plugin: string): boolean {
  return registry.admission.some(({ name }) => name === (parts[plugin] ?? plugin));
}

function settingsOf(flags: GivenFlags): ApiServerSettings {
  const tokenFile = lastOf(flags, "token-auth-file");
  const signingKey = lastOf(flags, "service-account-signing-key-file");
  const [keyFiles, issuers, audiences] = [
    "service-account-key-file",
    "service-account-issuer",
    "api-audiences",
  ].map((name) => listOf(flags, name)) as [readonly string[], readonly string[], readonly string[]];
  const range = listOf(flags, "service-cluster-ip-range").find((cidr) => !cidr.includes(":"));
  const modes = listOf(flags, "authorization-mode");
  const isAllowingAll = modes.length === 0 || modes.includes("AlwaysAllow");
  // The real server refuses strangers too where everybody else may do everything.
  const isRefusing = isAllowingAll || lastOf(flags, "anonymous-auth") === "false";
  return {
    // What other modes would allow besides is not known here, and what they would deny is not
    // theirs to say.
    authorization: isAllowingAll ? "AlwaysAllow" : "RBAC",
    strangers: isRefusing ? "refused" : "anonymous",
    ...(tokenFile === undefined ? {} : { staticTokens: readTokenFile(tokenFile) }),
    serviceAccountTokens: {
      ...(signingKey === undefined ? {} : { signingKey: createPrivateKey(readFileSync(signingKey, "utf8")) }),
      ...(keyFiles.length === 0 ? {} : { publicKeys: keyFiles.flatMap(readPublicKeys) }),
      ...(issuers.length === 0 ? {} : { issuers }),
      ...(audiences.length === 0 ? {} : { audiences }),
    },
    // Where the real server's own default is.
    serviceRange: range ?? "10.0.0.0/24",
    disabledAdmission: listOf(flags, "disable-admission-plugins"),
    disabledVersions: disabledVersions(listOf(flags, "runtime-config")),
  };
}

function listenOptions(flags: GivenFlags, plane: ControlPlane): ListenOptions {
  const authorities = lastOf(flags, "client-ca-file");
  const host = lastOf(flags, "bind-address") ?? "0.0.0.0";
  return {
    host,
    port: Number(lastOf(flags, "secure-port") ?? 6443),
    serving: servingPair(flags, host, plane),
    clientAuthorities: authorities === undefined ? "" : readFileSync(authorities, "utf8"),
  };
}

/**
 * The files that flags name; else those of the folder for certificates, where new ones are left for
 * clients to trust.
 */
function servingPair(
  flags: GivenFlags,
  host: string,
  plane: ControlPlane,
): NonNullable<ListenOptions["serving"]> {
  const [certificate, key] = [lastOf(flags, "tls-cert-file"), lastOf(flags, "tls-private-key-file")];
  const read = (path: string) => readFileSync(path, "utf8");
  if (certificate !== undefined && key !== undefined)
    return { certificate: read(certificate), key: read(key) };
  const folder = lastOf(flags, "cert-dir") ?? "/var/run/kubernetes";
  const [kept, keptKey] = [join(folder, "apiserver.crt"), join(folder, "apiserver.key")];
  if (existsSync(kept) && existsSync(keptKey)) return { certificate: read(kept), key: read(keptKey) };
  const made = plane.servingPair(host);
  const chain = `${made.certificate}${plane.authority.certificate}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(kept, chain);
  writeFileSync(keptKey, made.key, { mode: 0o600 });
  return { certificate: chain, key: made.key };
}
