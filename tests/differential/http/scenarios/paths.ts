import type { Sequence } from "../sequence.ts";
import { at, configMap, get, post, put, remove } from "./requests.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

export const paths: readonly Sequence[] = [
  {
    name: "paths that are not resources",
    steps: [
      get("/healthz"),
      get("/livez"),
      get("/readyz"),
      get("/nope"),
      get("/apis/nope.io/v1"),
      get("/apis/nope.io/v1/things"),
      get("/apis/nope.io"),
      get("/apis/apps/v9"),
      get("/apis/apps/v9/deployments"),
      get("/apis/apps"),
      get("/apis/apps/"),
      get("/apis/apps/v1/"),
      get("/api/v1/nopes"),
      get("/api/v2"),
      get("/openapi"),
      get("/openapi/v3/apis/nope/v1"),
      get("/api/v1", table),
      get("/apis/authentication.k8s.io/v1"),
    ],
  },
  {
    name: "methods that are not allowed",
    steps: [
      post(at.configMaps, configMap("a")),
      post(`${at.configMaps}/a`, {}),
      put(at.configMaps, {}),
      { method: "PATCH", path: at.configMaps, body: {} },
      remove("/api/v1/configmaps"),
      post("/api/v1/configmaps", configMap("b")),
      get(`${at.configMaps}/a/foo`),
      get(`${at.configMaps}/a/status`),
      put(`${at.configMaps}/a/status`, configMap("a")),
      get("/api/v1/namespaces/{ns}/namespaces"),
      get("/api/v1/namespaces/{ns}/nodes"),
      get("/api/v1/configmaps/a"),
      { method: "OPTIONS", path: at.configMaps },
      get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
      get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x"),
      ...["GET", "PUT", "PATCH", "DELETE"].flatMap((method) =>
        [
          `${at.accounts}/default/token`,
          "/api/v1/namespaces/{ns}/pods/x/eviction",
          "/api/v1/namespaces/{ns}/pods/x/binding",
        ].map((path) => ({ method, path, ...(method === "GET" ? {} : { body: {} }) })),
      ),
      post("/api/v1/namespaces/{ns}/finalize", {}),
      post("/api/v1/namespaces/{ns}/pods/x/log", {}),
      post("/api/v1/namespaces/{ns}/pods/x/resize", {}),
      get("/api/v1/bindings"),
      get("/api/v1/namespaces/{ns}/bindings"),
      remove("/api/v1/namespaces"),
    ],
  },
  {
    name: "questions",
    steps: [
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        spec: { resourceAttributes: { verb: "get", resource: "pods" } },
      }),
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: {} }),
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}),
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", ""),
      {
        ...post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: {} }),
        headers: { accept: table },
      },
      post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "bad" } }),
      post(`${at.accounts}/default/token`, { metadata: { namespace: "other" }, spec: {} }),
      post("/api/v1/namespaces/{ns}/pods/x/eviction", { metadata: { name: "x", namespace: "other" } }),
      post("/api/v1/namespaces/{ns}/pods/x/binding", {
        metadata: { name: "x", namespace: "other" },
        target: { name: "n" },
      }),
      post("/api/v1/namespaces/{ns}/bindings", {
        metadata: { name: "x", namespace: "other" },
        target: { name: "n" },
      }),
    ],
  },
];
