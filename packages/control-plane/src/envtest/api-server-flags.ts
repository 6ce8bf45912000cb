import type { KnownFlags } from "./flags.ts";

/** The flags of `kube-apiserver` that mean something here. */
export const apiServerFlags: KnownFlags = {
  values: [
    "api-audiences",
    "authorization-mode",
    "bind-address",
    "cert-dir",
    "client-ca-file",
    "disable-admission-plugins",
    "enable-admission-plugins",
    "etcd-prefix",
    "etcd-servers",
    "runtime-config",
    "secure-port",
    "service-account-issuer",
    "service-account-key-file",
    "service-account-signing-key-file",
    "service-cluster-ip-range",
    "tls-cert-file",
    "tls-private-key-file",
    "token-auth-file",
  ],
  switches: ["anonymous-auth", "help", "h", "version"],
};
