import { dirname, isAbsolute, join } from "node:path";
import { KubeconfigError } from "../errors.ts";
import { Field } from "./field.ts";
import type { Cluster, Context, ExecConfig, Impersonation, Kubeconfig, User } from "./kubeconfig.ts";

const EXEC_VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const INTERACTIVE_MODES = ["Never", "IfAvailable", "Always"] as const;

/**
 * Reads a kubeconfig, YAML or JSON. Fields that kubectl does not know are ignored, as it does;
 * faults in those it knows are one line that names the file, the field and what belongs there. No
 * credential is ever part of it. A fault within a cluster, user or context is kept with that entry,
 * and thrown when it is used.
 *
 * @param source the file's path: it is named in messages, and relative paths within are resolved
 *   against its folder.
 * @throws KubeconfigError with code KUBECONFIG_INVALID.
 */
export async function parseKubeconfig(text: string, source: string): Promise<Kubeconfig> {
  const root = new Field(await parseYaml(text, source), "", source);
  if (root.isAbsent) return { source, clusters: new Map(), users: new Map(), contexts: new Map() };
  const config = root.record('a kubeconfig, with "clusters", "users" and "contexts"');
  const kind = config.optional("kind")?.string();
  if (kind !== undefined && kind !== "Config") config.at("kind").fail('must be "Config"');
  const version = config.optional("apiVersion")?.string();
  if (version !== undefined && version !== "v1") config.at("apiVersion").fail('must be "v1"');
  const currentContext = config.optional("current-context")?.string();
  const folder = dirname(source);
  return {
    source,
    ...(currentContext ? { currentContext } : {}),
    clusters: named(
      config,
      "clusters",
      "cluster",
      (field) => cluster(field, folder),
      (fault) => ({ server: "", fault }),
    ),
    users: named(
      config,
      "users",
      "user",
      (field) => user(field, folder),
      (fault) => ({ fault }),
    ),
    contexts: named(config, "contexts", "context", context, (fault) => ({ cluster: "", fault })),
  };
}

async function parseYaml(text: string, source: string): Promise<unknown> {
  // A pod with a service account never reads YAML.
  const { CORE_SCHEMA, loadAll, YAMLException } = await import("js-yaml");
  let documents: unknown[];
  try {
    documents = loadAll(text, { schema: CORE_SCHEMA });
  } catch (error) {
    // The exception's message quotes the lines around the fault, and those may hold a token.
    const at = error instanceof YAMLException && error.mark ? ` at line ${error.mark.line + 1}` : "";
    throw new KubeconfigError(
      "KUBECONFIG_INVALID",
      `kubeconfig ${source}: not valid YAML${at}; check quotes and indentation`,
    );
  }
  if (documents.length > 1)
    throw new KubeconfigError(
      "KUBECONFIG_INVALID",
      `kubeconfig ${source}: ${documents.length} YAML documents in one file; keep one, or list several files in KUBECONFIG`,
    );
  return documents[0];
}

function named<T>(
  config: Field,
  list: string,
  entry: string,
  decode: (field: Field) => T,
  broken: (fault: KubeconfigError) => T,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const item of config.optional(list)?.array() ?? []) {
    const record = item.record(`an object with "name" and "${entry}"`);
    const name = record.at("name").string();
    if (found.has(name)) record.at("name").fail(`${JSON.stringify(name)} is there twice; remove one`);
    const body = record.optional(entry) ?? new Field({}, record.at(entry).path, record.source);
    found.set(name, decodeEntry(body, decode, broken));
  }
  return found;
}

function decodeEntry<T>(body: Field, decode: (field: Field) => T, broken: (fault: KubeconfigError) => T): T {
  try {
    return decode(body);
  } catch (error) {
    if (error instanceof KubeconfigError) return broken(error);
    throw error;
  }
}

function cluster(field: Field, folder: string): Cluster {
  const record = field.record("an object");
  const server = record.optional("server")?.url(["http:", "https:"], "https://10.0.0.1:6443") ?? "";
  const extensions = new Map<string, unknown>();
  for (const item of record.optional("extensions")?.array() ?? []) {
    const extension = item.record('an object with "name" and "extension"');
    extensions.set(extension.at("name").string(), extension.at("extension").value);
  }
  const insecureSkipTlsVerify = record.optional("insecure-skip-tls-verify")?.boolean();
  const disableCompression = record.optional("disable-compression")?.boolean();
  return {
    server,
    ...present("certificateAuthority", path(record.optional("certificate-authority"), folder)),
    ...present("certificateAuthorityData", record.optional("certificate-authority-data")?.base64()),
    ...present("tlsServerName", record.optional("tls-server-name")?.string()),
    ...present("proxyUrl", record.optional("proxy-url")?.secret()),
    ...(insecureSkipTlsVerify ? { insecureSkipTlsVerify } : {}),
    ...(disableCompression ? { disableCompression } : {}),
    ...(extensions.size > 0 ? { extensions } : {}),
  };
}

function user(field: Field, folder: string): User {
  const record = field.record("an object");
  if (record.optional("auth-provider"))
    record
      .at("auth-provider")
      .fail("is not supported; use an exec plugin, such as gke-gcloud-auth-plugin, kubelogin or aws");
  const exec = record.optional("exec");
  const impersonate = impersonation(record);
  return {
    ...present("clientCertificate", path(record.optional("client-certificate"), folder)),
    ...present("clientCertificateData", record.optional("client-certificate-data")?.base64()),
    ...present("clientKey", path(record.optional("client-key"), folder)),
    ...present("clientKeyData", record.optional("client-key-data")?.base64()),
    ...present("token", record.optional("token")?.secret()),
    ...present("tokenFile", path(record.optional("tokenFile"), folder)),
    ...present("username", record.optional("username")?.secret()),
    ...present("password", record.optional("password")?.secret()),
    ...(impersonate ? { impersonate } : {}),
    ...(exec ? { exec: execConfig(exec, folder) } : {}),
  };
}

function impersonation(record: Field): Impersonation | undefined {
  const groups = record.optional("as-groups")?.strings() ?? [];
  const extra = new Map<string, readonly string[]>();
  for (const [key, values] of record.optional("as-user-extra")?.entries() ?? [])
    extra.set(key, values.strings());
  const found: Impersonation = {
    ...present("user", record.optional("as")?.string()),
    ...present("uid", record.optional("as-uid")?.string()),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra.size > 0 ? { extra } : {}),
  };
  if (Object.keys(found).length === 0) return undefined;
  if (found.user === undefined) record.at("as").fail("is needed with as-uid, as-groups and as-user-extra");
  return found;
}

function execConfig(field: Field, folder: string): ExecConfig {
  const record = field.record('an object with "apiVersion" and "command"');
  const apiVersion = record.at("apiVersion").oneOf(EXEC_VERSIONS);
  const command = record.at("command").string();
  const mode = record.optional("interactiveMode")?.oneOf(INTERACTIVE_MODES);
  if (mode === undefined && apiVersion.endsWith("/v1"))
    record.at("interactiveMode").fail(`is needed with ${apiVersion}: ${INTERACTIVE_MODES.join(", ")}`);
  return {
    apiVersion,
    // A bare name is looked up in PATH; only one with a folder in it is a path.
    command: /[/\\]/.test(command) && !isAbsolute(command) ? join(folder, command) : command,
    args: record.optional("args")?.strings() ?? [],
    env: (record.optional("env")?.array() ?? []).map((item) => {
      const variable = item.record('an object with "name" and "value"');
      return { name: variable.at("name").string(), value: variable.at("value").secret() };
    }),
    ...present("installHint", record.optional("installHint")?.string()),
    provideClusterInfo: record.optional("provideClusterInfo")?.boolean() ?? false,
    interactiveMode: mode ?? "IfAvailable",
  };
}

function context(field: Field): Context {
  const record = field.record("an object");
  return {
    cluster: record.optional("cluster")?.string() ?? "",
    ...present("user", record.optional("user")?.string()),
    ...present("namespace", record.optional("namespace")?.string()),
  };
}

function path(field: Field | undefined, folder: string): string | undefined {
  const value = field?.string();
  return !value || isAbsolute(value) ? value : join(folder, value);
}

/** Empty strings stand for absent ones, as kubectl has it. */
function present<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return value ? ({ [key]: value } as { readonly [P in K]: string }) : {};
}
