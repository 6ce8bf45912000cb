import { seededRandom } from "../../packages/clock/src/index.ts";

/** A request that nobody in their right mind would send, or that is almost right. */
export interface FuzzRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

const methods = [
  "GET",
  "GET",
  "GET",
  "POST",
  "POST",
  "PUT",
  "PATCH",
  "PATCH",
  "PATCH",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "BREW",
];
const collections = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/secrets",
  "/api/v1/namespaces/default/services",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/default/serviceaccounts",
  "/api/v1/namespaces/default/events",
  "/api/v1/namespaces/default/persistentvolumeclaims",
  "/api/v1/nodes",
  "/api/v1/namespaces",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/apps/v1/namespaces/default/statefulsets",
  "/apis/batch/v1/namespaces/default/jobs",
  "/apis/batch/v1/namespaces/default/cronjobs",
  "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
  "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
  "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
  "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
  "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/fuzz.example.com/v1/namespaces/default/widgets",
];
const plainPaths = [
  "/",
  "/api",
  "/apis",
  "/apis/apps",
  "/version",
  "/healthz",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/apis/apps/v1",
  "/metrics",
  "//",
  "/%",
  "/%00",
  "/api/v1/namespaces/%2e%2e/x",
  "/api/v1/watch/namespaces/default/configmaps",
  "/apis/%F0%9F%98%80/v1/x",
  "/.well-known/openid-configuration",
];
const names = [
  "a",
  "b",
  "c",
  "%20",
  "..",
  "A_B",
  "x".repeat(300),
  "__proto__",
  "constructor",
  "a%2Fb",
  "%ff",
];
const subresources = [
  "status",
  "scale",
  "log",
  "exec",
  "attach",
  "portforward",
  "proxy",
  "eviction",
  "binding",
  "token",
  "finalize",
  "ephemeralcontainers",
  "resize",
  "nope",
  "__proto__",
];
const words = [
  "",
  "a",
  "1",
  "0",
  "-1",
  "true",
  "null",
  "x=y",
  "a in (b",
  "metadata.name=a",
  "spec.nodeName=",
  "💥",
  "\u0000",
  "99999999999999999999",
  "All",
  "Strict",
  "NotOlderThan",
  "Exact",
  "__proto__",
  "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0",
  "a,b,!c",
  "{",
  "%",
  "Foreground",
  "None",
];
const parameters = [
  "labelSelector",
  "fieldSelector",
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "allowWatchBookmarks",
  "timeoutSeconds",
  "timeout",
  "dryRun",
  "fieldManager",
  "fieldValidation",
  "force",
  "propagationPolicy",
  "gracePeriodSeconds",
  "orphanDependents",
  "includeObject",
  "pretty",
  "hash",
];
const contentTypes = [
  "application/json",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
  "",
  ";;",
  "application/cbor",
];
const accepts = [
  "application/json",
  "application/vnd.kubernetes.protobuf,application/json",
  "",
  "*/*",
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "text/html",
  ",,;q=x",
  "application/json;q=2;as=",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];
const fields = [
  "metadata",
  "name",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "resourceVersion",
  "uid",
  "generateName",
  "spec",
  "status",
  "data",
  "stringData",
  "type",
  "template",
  "containers",
  "ports",
  "replicas",
  "selector",
  "matchLabels",
  "image",
  "env",
  "rules",
  "subjects",
  "roleRef",
  "kind",
  "apiVersion",
  "versions",
  "schema",
  "openAPIV3Schema",
  "properties",
  "items",
  "x-kubernetes-validations",
  "op",
  "path",
  "value",
  "from",
  "$patch",
  "$setElementOrder/containers",
  "$retainKeys",
  "__proto__",
  "constructor",
  "f:spec",
  "fieldsV1",
  "manager",
  "operation",
  "minAvailable",
  "schedule",
  "resourceAttributes",
  "preconditions",
  "creationTimestamp",
];
const scalars = [
  "a",
  "b",
  "",
  "1",
  "web",
  "main",
  "Update",
  "Apply",
  "v1",
  "apps/v1",
  "fuzz.example.com/v1",
  "Widget",
  "ConfigMap",
  "Deployment",
  "add",
  "remove",
  "replace",
  "move",
  "copy",
  "test",
  "/metadata/labels",
  "/spec/replicas",
  "/",
  "-1",
  "10m",
  "1Gi",
  "100%",
  "2020-01-01T00:00:00Z",
  "* * * * *",
  "self.size() > 1",
  "x".repeat(70),
  "💥",
  "\u0000",
  "object",
  "string",
];

const containers = [
  { name: "main", image: "main:1", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] },
];
const template = { metadata: { labels: { app: "a" } }, spec: { containers, restartPolicy: "Never" } };

/** Contents that some kind takes. */
const plausible: readonly object[] = [
  {},
  { data: { a: "1" } },
  { stringData: { a: "1" } },
  { spec: {} },
  { spec: { containers } },
  { spec: { selector: { matchLabels: { app: "a" } }, template: { ...template, spec: { containers } } } },
  { spec: { template } },
  { spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } } },
  { spec: { ports: [{ port: 80 }], selector: { app: "a" } } },
  { spec: { scaleTargetRef: { kind: "Deployment", name: "a" }, maxReplicas: 3, minReplicas: 1 } },
  { spec: { holderIdentity: "x", leaseDurationSeconds: 1 } },
  { spec: { minAvailable: "50%", selector: {} } },
  { spec: { size: 1, color: "red", parts: [{ name: "a" }], tags: ["x"] } },
  { spec: { replicas: 2 }, status: { replicas: 1 } },
  { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] },
  { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
  { involvedObject: { namespace: "default", name: "a" }, reason: "X", message: "x" },
  { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
];

/** Draws requests from a seed: the same seed gives the same requests. */
export class RequestFuzzer {
  readonly #random: { next(): number };

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  next(): FuzzRequest {
    const method = this.#pick(methods);
    const hasBody = method !== "GET" && method !== "HEAD" && this.#chance(0.95);
    return {
      method,
      url: `${this.#path(method)}${this.#query()}`,
      headers: {
        "content-type": this.#contentType(method),
        ...(this.#chance(0.6) ? { accept: this.#pick(accepts) } : {}),
        ...(this.#chance(0.05) ? { "impersonate-user": this.#pick(words) } : {}),
        ...(this.#chance(0.05) ? { "impersonate-group": this.#pick(words) } : {}),
        ...(this.#chance(0.05)
          ? { authorization: this.#pick(["Bearer x", "Bearer", "Basic Zm9vOmJhcg==", "x"]) }
          : {}),
        ...(this.#chance(0.3) ? { "user-agent": this.#pick(["curl/8", "\u0001/x", "", "kubectl/v1"]) } : {}),
      },
      body: hasBody ? this.#body() : undefined,
    };
  }

  #path(method: string): string {
    if (this.#chance(0.05)) return this.#pick(plainPaths);
    let path = this.#pick(collections);
    // Most requests go where their method is allowed, or none would get far.
    if (this.#chance(0.8)) {
      if (method === "POST") return path;
      if (method !== "GET") return `${path}/${this.#pick(["a", "b", "c"])}`;
    }
    if (this.#chance(0.65)) path += `/${this.#pick(names)}`;
    if (this.#chance(0.2)) path += `/${this.#pick(subresources)}`;
    if (this.#chance(0.02)) path += `/${this.#pick(names)}/${this.#pick(names)}`;
    return this.#chance(0.02) ? path.slice(0, this.#below(path.length) + 1) : path;
  }

  #query(): string {
    const count = this.#pick([0, 0, 0, 1, 1, 2, 3]);
    const pairs = Array.from({ length: count }, () => {
      const value = this.#pick(words);
      return `${this.#pick(parameters)}=${this.#chance(0.9) ? encodeURIComponent(value) : value.replaceAll("\u0000", "")}`;
    });
    // A watch that never ends would outlive the run.
    if (this.#chance(0.05)) pairs.push("watch=1&timeoutSeconds=1");
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  }

  #contentType(method: string): string {
    const fitting = method === "PATCH" ? contentTypes.slice(4, 8) : contentTypes.slice(0, 2);
    return this.#chance(0.8) ? this.#pick(fitting) : this.#pick(contentTypes);
  }

  #body(): Uint8Array {
    if (this.#chance(0.05)) return Uint8Array.from({ length: this.#below(60) }, () => this.#below(256));
    const value = this.#chance(0.2) ? this.#value(0) : this.#object();
    const text = JSON.stringify(value) ?? "";
    return Buffer.from(this.#chance(0.06) ? this.#damaged(text) : text);
  }

  /** Something that starts out as an object should, and goes wrong somewhere. */
  #object(): unknown {
    if (this.#chance(0.15)) {
      return Array.from({ length: this.#below(4) }, () => this.#record(["op", "path", "value", "from"], 0));
    }
    const named = { name: this.#pick(["a", "b", "c"]) };
    const isWild = this.#chance(0.4);
    return {
      ...(this.#chance(0.2) ? { apiVersion: this.#pick(scalars), kind: this.#pick(scalars) } : {}),
      metadata: isWild ? { ...named, ...this.#record(fields, 2) } : { ...named, ...this.#metadata() },
      ...this.#pick(plausible),
      ...(isWild ? this.#record(fields, 0) : {}),
    };
  }

  #metadata(): object {
    return this.#pick([
      {},
      { labels: { a: "b" } },
      { finalizers: ["x.io/f"] },
      { finalizers: [] },
      { annotations: { __proto__: "x", a: "b" } },
      { resourceVersion: "1" },
      { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u" }] },
      { managedFields: [{}] },
    ]);
  }

  #record(keys: readonly string[], depth: number): Record<string, unknown> {
    const entries = Array.from(
      { length: this.#below(4) },
      () => [this.#pick(keys), this.#value(depth + 1)] as const,
    );
    return Object.fromEntries(entries);
  }

  #value(depth: number): unknown {
    const kind = this.#below(depth > 4 ? 5 : 9);
    if (kind === 0) return null;
    if (kind === 1) return this.#chance(0.5);
    if (kind === 2) return this.#pick([0, 1, -1, 3.5, 80, 65_536, 2 ** 31, 2 ** 53, 1e300]);
    if (kind < 5) return this.#pick(scalars);
    if (kind === 5) return Array.from({ length: this.#below(4) }, () => this.#value(depth + 1));
    return this.#record(fields, depth);
  }

  #damaged(text: string): string {
    const at = this.#below(text.length + 1);
    return this.#pick([
      text.slice(0, at),
      `${text.slice(0, at)}${this.#pick(scalars)}${text.slice(at)}`,
      `${"[".repeat(20_000)}`,
      text.replaceAll("{", "[").slice(0, at),
    ]);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability;
  }
}
