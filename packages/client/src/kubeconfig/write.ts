/** What a kubeconfig for one cluster and one user says. */
export interface KubeconfigContent {
  /** The API server's URL. */
  readonly server: string;
  /** The CA's certificates, PEM. */
  readonly ca?: string;
  readonly token?: string;
  /** A client certificate and its key, PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** @default none */
  readonly namespace?: string;
  /** What cluster, user and context are called. @default "windlass" */
  readonly name?: string;
}

/**
 * The text of a kubeconfig, with everything inline, that kubectl and every other client reads. It
 * holds credentials: write it with mode 0600.
 *
 * @example
 * await writeFile("kubeconfig", kubeconfigFor({ server: "https://127.0.0.1:6443", ca, token }), { mode: 0o600 });
 */
export function kubeconfigFor(content: KubeconfigContent): string {
  const { server, ca, token, cert, key, namespace, name = "windlass" } = content;
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server, ...(ca ? { "certificate-authority-data": base64(ca) } : {}) } }],
    users: [
      {
        name,
        user: {
          ...(token ? { token } : {}),
          ...(cert ? { "client-certificate-data": base64(cert) } : {}),
          ...(key ? { "client-key-data": base64(key) } : {}),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name, ...(namespace ? { namespace } : {}) } }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
