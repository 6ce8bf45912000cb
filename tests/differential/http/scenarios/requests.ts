import type { Sending } from "../../servers.ts";

/** Collections of the run's namespace. */
export const at = {
  configMaps: "/api/v1/namespaces/{ns}/configmaps",
  secrets: "/api/v1/namespaces/{ns}/secrets",
  services: "/api/v1/namespaces/{ns}/services",
  accounts: "/api/v1/namespaces/{ns}/serviceaccounts",
  deployments: "/apis/apps/v1/namespaces/{ns}/deployments",
  leases: "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
  widgets: "/apis/{group}/v1/namespaces/{ns}/widgets",
};

export function get(path: string, accept?: string): Sending {
  return { method: "GET", path, ...(accept === undefined ? {} : { headers: { accept } }) };
}

export function post(path: string, body: unknown, contentType?: string): Sending {
  return { method: "POST", path, body, ...(contentType === undefined ? {} : { contentType }) };
}

export function put(path: string, body: unknown): Sending {
  return { method: "PUT", path, body };
}

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

export type PatchType = keyof typeof patchTypes;

export function patch(type: PatchType, path: string, body: unknown): Sending {
  return { method: "PATCH", path, body, contentType: patchTypes[type] };
}

export function remove(path: string, body?: unknown): Sending {
  return { method: "DELETE", path, ...(body === undefined ? {} : { body }) };
}

export function configMap(name: string, data: object = { a: "1" }, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function widget(name: string, spec: object = { size: 1 }, metadata: object = {}): object {
  return {
    apiVersion: "{group}/v1",
    kind: "Widget",
    metadata: { name, ...metadata },
    spec,
  };
}

export function deployment(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, ...metadata },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: "registry.example.com/main:1" }] },
      },
      ...spec,
    },
  };
}
