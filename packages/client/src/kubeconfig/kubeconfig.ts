import type { KubeconfigError } from "../errors.ts";

/**
 * Which clusters there are, who one is to them, and which pair of both is meant. Paths in it are
 * absolute.
 */
export interface Kubeconfig {
  /** Where it came from, for messages: a path, or several. */
  readonly source: string;
  readonly currentContext?: string;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly users: ReadonlyMap<string, User>;
  readonly contexts: ReadonlyMap<string, Context>;
}

/**
 * An entry that could not be read. It matters only when it is used: old files are full of entries
 * that are not needed.
 */
export interface Faulty {
  readonly fault?: KubeconfigError;
}

/** Where an API server is, and how to know that it is the right one. */
export interface Cluster extends Faulty {
  /** The API server's URL. */
  readonly server: string;
  /** File with the CA's certificates, PEM. */
  readonly certificateAuthority?: string;
  /** The same inline, base64 of PEM. Wins over the file. */
  readonly certificateAuthorityData?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  /** `http://` or `https://` proxy. */
  readonly proxyUrl?: string;
  readonly disableCompression?: boolean;
  /** By name; exec plugins are given the one called `client.authentication.k8s.io/exec`. */
  readonly extensions?: ReadonlyMap<string, unknown>;
}

/** Who one is to a cluster. */
export interface User extends Faulty {
  readonly clientCertificate?: string;
  readonly clientCertificateData?: string;
  readonly clientKey?: string;
  readonly clientKeyData?: string;
  readonly token?: string;
  /** File with the token; wins over `token` and is read again when it changes. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly impersonate?: Impersonation;
  readonly exec?: ExecConfig;
}

/** Whom to act as. The credentials' own user needs the `impersonate` verb for each part. */
export interface Impersonation {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: ReadonlyMap<string, readonly string[]>;
}

/** A program that prints credentials. */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly installHint?: string;
  /** Whether the program receives the cluster. */
  readonly provideClusterInfo: boolean;
  /** Whether it may, must or must not have the terminal. */
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
}

/** A cluster, a user and a namespace under one name. */
export interface Context extends Faulty {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}
