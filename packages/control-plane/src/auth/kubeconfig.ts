import { createPrivateKey } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../json.ts";

/** The credentials of a kubeconfig's user. */
export type KubeconfigUser =
  | { readonly certificate: string; readonly key: string }
  | { readonly token: string }
  | { readonly anonymous: true };

export interface KubeconfigInit {
  /** The server's URL. With plain http, clients drop credentials and are anonymous. */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. Absent for plain http. */
  readonly authority?: string;
  readonly user: KubeconfigUser;
  /**
   * The name of the context, and of its cluster and user.
   *
   * @default "windlass"
   */
  readonly name?: string;
  /**
   * Where commands without `-n` go.
   *
   * @default "default", by leaving it out
   */
  readonly namespace?: string;
}

/** A kubeconfig with one context, everything it needs inside it: no file but itself. */
export function kubeconfig({
  server,
  authority,
  user,
  name = "windlass",
  namespace,
}: KubeconfigInit): JsonObject {
  const cluster: JsonObject = { server };
  if (authority !== undefined) cluster["certificate-authority-data"] = base64(authority);
  const context: JsonObject = { cluster: name, user: name };
  if (namespace !== undefined) context.namespace = namespace;
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    users: [{ name, user: credentials(user) }],
    contexts: [{ name, context }],
    "current-context": name,
  };
}

/** The kubeconfig as a file's text. */
export function kubeconfigYaml(init: KubeconfigInit): string {
  return `${blockYaml(kubeconfig(init), "")}\n`;
}

/**
 * YAML of objects whose keys need no quotes. Written here, since a library that can write any YAML
 * is a tenth of what a server takes to start.
 */
function blockYaml(object: JsonObject, indent: string): string {
  const lines = Object.entries(object).map(([key, value]) => {
    if (Array.isArray(value)) {
      const items = value.map(
        (item) => `${indent}- ${blockYaml(item as JsonObject, `${indent}  `).trimStart()}`,
      );
      return `${indent}${key}:\n${items.join("\n")}`;
    }
    if (!isObject(value)) return `${indent}${key}: ${scalarYaml(value)}`;
    return Object.keys(value).length === 0
      ? `${indent}${key}: {}`
      : `${indent}${key}:\n${blockYaml(value, `${indent}  `)}`;
  });
  return lines.join("\n");
}

/** Plain words stay unquoted; everything else is quoted as JSON, which YAML reads. */
function scalarYaml(value: Json): string {
  const isPlain = typeof value === "string" && /^[A-Za-z][\w./-]*$/.test(value) && !yamlWords.test(value);
  return isPlain ? value : JSON.stringify(value);
}

const yamlWords = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

function credentials(user: KubeconfigUser): JsonObject {
  if ("token" in user) return { token: user.token };
  if ("anonymous" in user) return {};
  return {
    "client-certificate-data": base64(user.certificate),
    "client-key-data": base64(widelyRead(user.key)),
  };
}

/**
 * EC keys in the form of SEC 1: some clients, such as fabric8's for Java, read no other, and all
 * read this one.
 */
function widelyRead(pem: string): string {
  if (!pem.startsWith("-----BEGIN PRIVATE KEY-----")) return pem;
  const key = createPrivateKey(pem);
  return key.asymmetricKeyType === "ec" ? key.export({ type: "sec1", format: "pem" }).toString() : pem;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
