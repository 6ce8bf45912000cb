import { createPrivateKey, type KeyObject } from "node:crypto";
import type { TokensInit, User } from "./auth/index.ts";

/** What a real API server gets by its flags, where it makes a difference here too. */
export interface ApiServerSettings {
  /** Who may do what: by roles, or everybody everything. @default "RBAC" */
  readonly authorization?: "RBAC" | "AlwaysAllow";
  /** How requests without credentials are treated. @default "anonymous" */
  readonly strangers?: "anonymous" | "refused";
  /** Static bearer tokens, and their users. @default none */
  readonly staticTokens?: ReadonlyMap<string, User>;
  /**
   * How tokens of service accounts are signed and checked.
   *
   * @default a new key, or the one that the data file keeps
   */
  readonly serviceAccountTokens?: ServiceAccountTokenSettings;
  /** The IPv4 range that Services get their addresses from. @default "10.96.0.0/16" */
  readonly serviceRange?: string;
  /** Admission plugins to leave out, by the real server's names for them. @default none */
  readonly disabledAdmission?: readonly string[];
  /** Group versions not to serve, such as `batch/v1`; `v1` is the core group's. @default none */
  readonly disabledVersions?: readonly string[];
}

/** How tokens of service accounts are signed and checked. */
export interface ServiceAccountTokenSettings {
  /** Private: RSA or EC. @default a new key, or the one that the data file keeps */
  readonly signingKey?: KeyObject;
  /** What signatures are checked by. @default the public half of the key that signs */
  readonly publicKeys?: readonly KeyObject[];
  /**
   * The first issues tokens, those of the others are accepted.
   *
   * @default "https://kubernetes.default.svc.cluster.local"
   */
  readonly issuers?: readonly string[];
  /** Who tokens that name no audience are for. @default the issuers */
  readonly audiences?: readonly string[];
}

/** Where and as whom an API server is reached by other processes. */
export interface ListenOptions {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** @default any free port, or the one it had before, where data is kept */
  readonly port?: number;
  /** PEM of the certificate that the server shows. @default one of its own authority */
  readonly serving?: { readonly certificate: string; readonly key: string };
  /**
   * PEM of the authorities whose client certificates count; "" for none.
   *
   * @default its own authority
   */
  readonly clientAuthorities?: string;
}

/**
 * Where tokens' keys come from: the settings first, then the data file (PEM), so that tokens
 * outlive a restart.
 */
export function tokenSettings(
  { staticTokens, serviceAccountTokens: wanted = {} }: ApiServerSettings,
  keptKey: string | undefined,
): Omit<TokensInit, "clock" | "random" | "find"> {
  const key = wanted.signingKey ?? (keptKey === undefined ? undefined : createPrivateKey(keptKey));
  return {
    ...(staticTokens === undefined ? {} : { staticTokens }),
    ...(wanted.publicKeys === undefined ? {} : { publicKeys: wanted.publicKeys }),
    ...(wanted.issuers === undefined ? {} : { issuers: wanted.issuers }),
    ...(wanted.audiences === undefined ? {} : { audiences: wanted.audiences }),
    ...(key === undefined ? {} : { key }),
  };
}
