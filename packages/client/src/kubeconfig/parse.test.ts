import * as fc from "fast-check";
import { dump } from "js-yaml";
import { expect, test } from "vitest";
import { KubeconfigError } from "../errors.ts";
import { accessFor } from "./access.ts";
import { parseKubeconfig } from "./parse.ts";
import { kubeconfigFor } from "./write.ts";

const source = "/home/me/.kube/config";

const whole = `
apiVersion: v1
kind: Config
current-context: dev
preferences: {colors: true}
clusters:
- name: dev
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes
    proxy-url: http://proxy:3128
    disable-compression: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: me}
users:
- name: me
  user:
    client-certificate: /etc/me.crt
    client-key: ../me.key
    as: jane
    as-uid: "7"
    as-groups: [dev]
    as-user-extra: {scopes: [a, b]}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [--now]
      env: [{name: A, value: b}]
      installHint: install it
      provideClusterInfo: true
      interactiveMode: Never
contexts:
- name: dev
  context: {cluster: dev, user: me, namespace: team}
`;

test("everything that kubectl knows is read, with paths relative to the file", async () => {
  const config = await parseKubeconfig(whole, source);
  expect(config.currentContext).toBe("dev");
  expect(config.clusters.get("dev")).toEqual({
    server: "https://10.0.0.1:6443",
    certificateAuthority: "/home/me/.kube/pki/ca.crt",
    tlsServerName: "kubernetes",
    proxyUrl: "http://proxy:3128",
    disableCompression: true,
    extensions: new Map([["client.authentication.k8s.io/exec", { audience: "me" }]]),
  });
  expect(config.users.get("me")).toEqual({
    clientCertificate: "/etc/me.crt",
    clientKey: "/home/me/me.key",
    impersonate: { user: "jane", uid: "7", groups: ["dev"], extra: new Map([["scopes", ["a", "b"]]]) },
  });
  expect(config.users.get("plugin")?.exec).toEqual({
    apiVersion: "client.authentication.k8s.io/v1",
    command: "/home/me/.kube/bin/login",
    args: ["--now"],
    env: [{ name: "A", value: "b" }],
    installHint: "install it",
    provideClusterInfo: true,
    interactiveMode: "Never",
  });
  expect(config.contexts.get("dev")).toEqual({ cluster: "dev", user: "me", namespace: "team" });
});

test("what is written reads back", async () => {
  const text = kubeconfigFor({
    server: "https://x:1",
    ca: "CA",
    token: "t",
    cert: "C",
    key: "K",
    namespace: "n",
  });
  expect(accessFor(await parseKubeconfig(text, source))).toEqual({
    cluster: { server: "https://x:1", certificateAuthorityData: "Q0E=" },
    user: { token: "t", clientCertificateData: "Qw==", clientKeyData: "Sw==" },
    namespace: "n",
    source,
  });
});

test.each(["", "  \n", "# nothing\n", "null"])("a file like %j is an empty configuration", async (text) => {
  expect((await parseKubeconfig(text, source)).contexts.size).toBe(0);
});

const using = "current-context: x\ncontexts: [{name: x, context: {cluster: dev, user: me}}]";
const user = (fields: string) =>
  `${using}\nclusters: [{name: dev, cluster: {server: "https://x"}}]\nusers:\n- name: me\n  user: ${fields}`;
const cluster = (fields: string) => `${using}\nclusters:\n- name: dev\n  cluster: ${fields}`;
const use = async (text: string) => accessFor(await parseKubeconfig(text, source));
const exec = (fields: string) => user(`{exec: {${fields}}}`);

test.each([
  ["clusters: {", "not valid YAML at line 1; check quotes and indentation"],
  ["a: 1\n---\nb: 2", "2 YAML documents in one file; keep one, or list several files in KUBECONFIG"],
  ["just text", 'must be a kubeconfig, with "clusters", "users" and "contexts", not text'],
  ["[]", 'must be a kubeconfig, with "clusters", "users" and "contexts", not a list'],
  ["kind: Pod", 'kind must be "Config"'],
  ["apiVersion: v2", 'apiVersion must be "v1"'],
  ["clusters: 5", "clusters must be a list, not a number"],
  ["clusters: [5]", 'clusters[0] must be an object with "name" and "cluster", not a number'],
  ["clusters: [{cluster: {}}]", "clusters[0].name is missing"],
  ["contexts: [{name: a}, {name: a}]", 'contexts[1].name "a" is there twice; remove one'],
  [
    cluster("{server: 10.0.0.1:6443}"),
    'clusters[0].cluster.server must be a URL such as https://10.0.0.1:6443, not "10.0.0.1:6443"',
  ],
  [cluster("{server: 5}"), "clusters[0].cluster.server must be a string, not a number; put it in quotes"],
  [
    cluster("{certificate-authority-data: abc}"),
    "clusters[0].cluster.certificate-authority-data is not valid base64; copy it whole, without line breaks",
  ],
  [
    cluster("{insecure-skip-tls-verify: 'yes'}"),
    "clusters[0].cluster.insecure-skip-tls-verify must be true or false, not text",
  ],
  [user("{token: 12345}"), "users[0].user.token must be a string, not a number; put it in quotes"],
  [
    user("{auth-provider: {name: gcp}}"),
    "users[0].user.auth-provider is not supported; use an exec plugin, such as gke-gcloud-auth-plugin, kubelogin or aws",
  ],
  [user("{as-groups: [a]}"), "users[0].user.as is needed with as-uid, as-groups and as-user-extra"],
  [
    exec("apiVersion: client.authentication.k8s.io/v1alpha1, command: x"),
    'users[0].user.exec.apiVersion must be one of client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1, not "client.authentication.k8s.io/v1alpha1"',
  ],
  [exec("apiVersion: client.authentication.k8s.io/v1beta1"), "users[0].user.exec.command is missing"],
  [
    exec("apiVersion: client.authentication.k8s.io/v1, command: x"),
    "users[0].user.exec.interactiveMode is needed with client.authentication.k8s.io/v1: Never, IfAvailable, Always",
  ],
])("%j gives one line that names the field", async (text, fault) => {
  await expect(use(text)).rejects.toThrow(
    new KubeconfigError("KUBECONFIG_INVALID", `kubeconfig ${source}: ${fault}`),
  );
});

const contexts = `contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {}}]`;

test.each([
  [contexts, undefined, "current-context is not set; name a context: a, b"],
  [contexts, "z", 'there is no context "z"; there are: a, b'],
  ["current-context: z", undefined, 'current-context: there is no context "z"; there are: none'],
  [contexts, "a", 'context "a": there is no cluster "c"; there are: none'],
  [
    `${contexts}\nclusters: [{name: c, cluster: {server: "https://x"}}]`,
    "a",
    'context "a": there is no user "u"; there are: none',
  ],
  [
    `${contexts}\nclusters: [{name: c}]\nusers: [{name: u}]`,
    "a",
    `cluster "c": server is missing; set the API server's URL`,
  ],
  [
    `${contexts}\nclusters: [{name: c, cluster: {server: "https://x", insecure-skip-tls-verify: true, certificate-authority: x}}]\nusers: [{name: u}]`,
    "a",
    'cluster "c": insecure-skip-tls-verify and certificate-authority exclude each other; remove the first',
  ],
  [
    `${contexts}\nclusters: [{name: c, cluster: {server: "https://x"}}]\nusers: [{name: u, user: {client-key: x}}]`,
    "a",
    'user "u": client-key is set, but not client-certificate',
  ],
])("%j cannot be used, and the message lists what can", async (text, context, fault) => {
  const config = await parseKubeconfig(text, source);
  expect(() => accessFor(config, context)).toThrow(
    new KubeconfigError("KUBECONFIG_INVALID", `kubeconfig ${source}: ${fault}`),
  );
});

test("a fault in an entry that is not used does no harm", async () => {
  const text = `${user("{token: t}")}
- {name: old, user: {auth-provider: {name: gcp}}}
- {name: odd, user: 5}`;
  const config = await parseKubeconfig(text, source);
  expect(accessFor(config).user).toEqual({ token: "t" });
  expect(config.users.get("old")?.fault?.message).toContain("users[1].user.auth-provider is not supported");
  expect(config.users.get("odd")?.fault?.message).toContain("users[2].user must be an object");
});

test("no fault repeats a credential", async () => {
  const texts = [
    user('{token: "hunter2", "client-key-data": "hunter2!"}'),
    `${user('{token: "hunter2"}')}\n  password: hunter2: hunter2`,
    cluster('{server: "hunter2://me:hunter2@x"}').replace("hunter2://", "ftp://"),
  ];
  for (const text of texts) {
    const error = await use(text).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect(String(error)).not.toContain("hunter2");
  }
});

test("no fault repeats the password of a URL, whatever else is wrong with the URL", async () => {
  const part = fc.constantFrom("", "me", "a/b", "p@ss", "x:y", "ü", "\n", "?q", "#");
  const scheme = fc.constantFrom("", "http:", "https:/", "ftp://", "http//", "://", "//", "HTTP:", "me");
  await fc.assert(
    fc.asyncProperty(
      scheme,
      part,
      part,
      fc.constantFrom("x", "x:port", "", "[::"),
      async (start, user, more, host) => {
        const url = `${start}${user}:hunter2${more}@${host}`;
        for (const field of ["server", "proxy-url"]) {
          const text = cluster(JSON.stringify({ server: "https://x", [field]: url }));
          const error = await use(text).catch((it: unknown) => it);
          if (error instanceof KubeconfigError) expect(error.message).not.toContain("hunter2");
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("names such as __proto__ are names like any other", async () => {
  const text =
    '{"clusters":[{"name":"__proto__","cluster":{"server":"https://x"}}],"users":[{"name":"u","user":{"__proto__":{"token":"x"}}}]}';
  const config = await parseKubeconfig(text, source);
  expect(config.clusters.get("__proto__")).toEqual({ server: "https://x" });
  expect(config.users.get("u")).toEqual({});
  expect("token" in {}).toBe(false);
});

const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
);
const fields = [
  "server certificate-authority certificate-authority-data insecure-skip-tls-verify tls-server-name proxy-url extensions",
  "client-certificate client-key-data token tokenFile username password as as-groups as-user-extra exec auth-provider",
  "cluster user namespace name apiVersion command args env interactiveMode __proto__ constructor",
].flatMap((line) => line.split(" "));
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.dictionary(fc.constantFrom(...fields), tie("node")),
    fc.array(tie("node"), { maxLength: 3 }),
  ),
}));
const entry = (name: string) => fc.oneof(scalar, fc.array(fc.record({ name: scalar, [name]: tree.node })));
const document = fc.record(
  { clusters: entry("cluster"), users: entry("user"), contexts: entry("context"), "current-context": scalar },
  { requiredKeys: [] },
);

test("any document and any text is read, or refused in one line with the documented error", async () => {
  const text = fc.oneof(
    fc.string(),
    document.map((value) => JSON.stringify(value)),
    document.map((value) => dump(value)),
  );
  await fc.assert(
    fc.asyncProperty(text, async (input) => {
      try {
        await parseKubeconfig(input, source);
      } catch (error) {
        expect(error).toBeInstanceOf(KubeconfigError);
        expect(String(error)).not.toContain("\n");
      }
    }),
    { numRuns: 1_000 },
  );
});
