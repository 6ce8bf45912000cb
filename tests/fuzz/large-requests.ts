import type { Json, JsonObject } from "../../packages/control-plane/src/json.ts";

export interface LargeRequest {
  readonly method: string;
  readonly url: string;
  readonly body?: Json;
  /** @default application/json */
  readonly type?: string;
}

/** The body of a request may have three million bytes. */
const most = 2_900_000;

const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const jsonPatch = "application/json-patch+json";
const apply = "application/apply-patch+yaml";
const yaml = "application/yaml";

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** As many of something as fit into a request, or into an object that can be stored. */
function fill<T extends Json>(make: (index: number) => T, bytes = most): T[] {
  const each = JSON.stringify(make(10_000)).length + 1;
  return range(Math.floor(bytes / each)).map(make);
}
const record = (make: (index: number) => [string, Json], bytes?: number): JsonObject =>
  Object.fromEntries(fill(make as (index: number) => Json[], bytes)) as JsonObject;

const map = (name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  ...more,
});
const pod = (name: string, spec: JsonObject, container: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i", ...container }], ...spec },
});
const definition = (plural: string, schema: JsonObject): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.time.example.com` },
  spec: {
    group: "time.example.com",
    scope: "Namespaced",
    names: { plural, kind: `K${plural}`, singular: plural },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});
/** As text: so deep a value cannot be written by the usual means. */
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const post = (url: string, body: Json, type?: string): LargeRequest => ({
  method: "POST",
  url,
  body,
  ...(type === undefined ? {} : { type }),
});
const patch = (url: string, body: Json, type: string): LargeRequest => ({ method: "PATCH", url, body, type });
/** What can be stored: 1.5 MB. */
const storable = 1_300_000;

/**
 * One list of requests for each way in which a request can be large. Each is made twice, under two
 * names.
 */
export const shapes: Readonly<Record<string, (run: string) => readonly LargeRequest[]>> = {
  "many keys of data": (run) => [
    post(maps, map(run, { data: record((index) => [`k${index}`, "v"], storable) })),
    patch(`${maps}/${run}`, { data: { one: "more" } }, merge),
    patch(
      `${maps}/${run}?fieldManager=a`,
      map(run, { data: record((index) => [`k${index}`, "v"], storable) }),
      apply,
    ),
    { method: "GET", url: maps },
    { method: "GET", url: `${maps}/${run}` },
    { method: "DELETE", url: `${maps}/${run}` },
  ],
  "one long value": (run) => [
    post(maps, map(run, { data: { k: "x".repeat(storable) } })),
    patch(`${maps}/${run}`, { data: { k: "y".repeat(storable) } }, strategic),
  ],
  "many labels": (run) => [post(maps, map(run, {}, { labels: record((index) => [`k${index}`, "v"]) }))],
  "many annotations": (run) => [
    post(maps, map(run, {}, { annotations: record((index) => [`k${index}`, "v"]) })),
  ],
  "many finalizers": (run) => [
    post(maps, map(run, {}, { finalizers: fill((index) => `a.b/f${index}`, storable) })),
  ],
  "many owners": (run) => [
    post(
      maps,
      map(
        run,
        {},
        {
          ownerReferences: fill(
            (index) => ({ apiVersion: "v1", kind: "Pod", name: `p${index}`, uid: `${index}` }),
            storable,
          ),
        },
      ),
    ),
  ],
  "many managers": (run) => [
    post(
      maps,
      map(
        run,
        {},
        {
          managedFields: fill(
            (index) => ({
              manager: `m${index}`,
              operation: "Update",
              apiVersion: "v1",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
            }),
            storable,
          ),
        },
      ),
    ),
  ],
  "many unknown fields": (run) => [
    post(`${maps}?fieldValidation=Strict`, { ...map(run), ...record((index) => [`x${index}`, 1]) }),
  ],
  "many repeated fields": (run) => [
    post(
      `${maps}?fieldValidation=Strict`,
      `{"metadata":{"name":"${run}"},${'"data":{},'.repeat(200_000)}"data":{}}`,
    ),
  ],
  "deep nesting": (run) => [
    post(maps, `{"metadata":{"name":"${run}"},"x":${nested(9_000)}}`),
    patch(`${maps}/missing`, nested(9_000), merge),
    post(maps, nested(400_000)),
    post(maps, `${"[".repeat(500_000)}`),
  ],
  "many containers": (run) => [
    post(pods, pod(run, { containers: fill((index) => ({ name: `c${index}`, image: "i" })) })),
  ],
  "many variables": (run) => [
    post(pods, pod(run, {}, { env: fill((index) => ({ name: `V${index}`, value: "x" })) })),
    post(pods, pod(`${run}-same`, {}, { env: fill(() => ({ name: "V", value: "$(V)" })) })),
  ],
  "many ports": (run) => [
    post(
      pods,
      pod(
        run,
        {},
        { ports: fill((index) => ({ name: `p${index % 1000}`, containerPort: (index % 65_000) + 1 })) },
      ),
    ),
  ],
  "many volumes": (run) => [
    post(
      pods,
      pod(run, { volumes: fill((index) => ({ name: `v${index}`, emptyDir: {} })) }, { volumeMounts: [] }),
    ),
    post(
      pods,
      pod(
        `${run}-mounts`,
        { volumes: [{ name: "v", emptyDir: {} }] },
        {
          volumeMounts: fill((index) => ({ name: "v", mountPath: `/m/${index}` })),
        },
      ),
    ),
  ],
  "many tolerations": (run) => [
    post(pods, pod(run, { tolerations: fill((index) => ({ key: `k${index}`, operator: "Exists" })) })),
  ],
  "many affinities": (run) => [
    post(
      pods,
      pod(run, {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: fill((index) => ({
                matchExpressions: [{ key: `k${index}`, operator: "In", values: ["a"] }],
              })),
            },
          },
        },
      }),
    ),
  ],
  "many faults": (run) => [
    post(pods, pod(run, { containers: fill((index) => ({ name: `BAD ${index}`, image: "" })) })),
  ],
  "many rules of a role": (run) => [
    post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
      metadata: { name: run },
      rules: fill((index) => ({ verbs: ["get"], apiGroups: [""], resources: [`r${index}`] }), storable),
    }),
  ],
  "many subjects": (run) => [
    post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: run },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: fill(
        (index) => ({ kind: "User", name: `u${index}`, apiGroup: "rbac.authorization.k8s.io" }),
        storable,
      ),
    }),
    { method: "GET", url: maps },
  ],
  "many ports of a Service": (run) => [
    post("/api/v1/namespaces/default/services", {
      metadata: { name: run },
      spec: {
        type: "NodePort",
        ports: fill((index) => ({ name: `p${index}`, port: (index % 65_000) + 1 }), 900_000),
      },
    }),
  ],
  "many endpoints": (run) => [
    post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: run },
      addressType: "IPv4",
      endpoints: fill((index) => ({ addresses: [`10.0.${(index >> 8) & 255}.${index & 255}`] })),
    }),
  ],
  "many paths of an Ingress": (run) => [
    post("/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
      metadata: { name: run },
      spec: {
        rules: fill(
          (index) => ({
            host: `h${index}.example.com`,
            http: {
              paths: [
                { path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } },
              ],
            },
          }),
          storable,
        ),
      },
    }),
  ],
  "long label selector": () => [
    {
      method: "GET",
      url: `${maps}?labelSelector=${encodeURIComponent(fill((index) => `k${index}=v`, 300_000).join(","))}`,
    },
    {
      method: "GET",
      url: `${maps}?labelSelector=${encodeURIComponent(`k in (${fill((index) => `v${index}`, 300_000).join(",")})`)}`,
    },
    { method: "GET", url: `${maps}?labelSelector=${"(".repeat(500_000)}` },
    { method: "GET", url: `${maps}?labelSelector=${encodeURIComponent("!".repeat(300_000))}` },
  ],
  "long field selector": () => [
    {
      method: "GET",
      url: `${maps}?fieldSelector=${encodeURIComponent(fill((index) => `metadata.name=n${index}`, 300_000).join(","))}`,
    },
    { method: "GET", url: `${maps}?fieldSelector=${"%5C".repeat(300_000)}` },
  ],
  "long addresses": () => [
    { method: "GET", url: `/api/v1/namespaces/default/configmaps/${"a".repeat(900_000)}` },
    { method: "GET", url: `/${"/".repeat(900_000)}` },
    { method: "GET", url: `${maps}?${"a=b&".repeat(220_000)}` },
    { method: "GET", url: `${maps}?${"%".repeat(900_000)}` },
    { method: "GET", url: `${maps}?limit=1&continue=${"a".repeat(900_000)}` },
    { method: "GET", url: `${maps}?timeout=${"1h".repeat(400_000)}` },
  ],
  "long JSON patch": (run) => [
    post(maps, map(run, { data: {} })),
    patch(
      `${maps}/${run}`,
      fill((index) => ({ op: "add", path: `/data/k${index}`, value: "v" })).slice(0, 10_000),
      jsonPatch,
    ),
    patch(
      `${maps}/${run}`,
      fill(() => ({ op: "test", path: "/metadata/name", value: run })).slice(0, 10_000),
      jsonPatch,
    ),
    patch(`${maps}/${run}`, [{ op: "add", path: `/data${"/a".repeat(700_000)}`, value: 1 }], jsonPatch),
  ],
  "long strategic patch": (run) => [
    post(pods, pod(run, {})),
    patch(
      `${pods}/${run}`,
      { spec: { containers: fill((index) => ({ name: `c${index}`, image: "i" })) } },
      strategic,
    ),
    patch(
      `${pods}/${run}`,
      { spec: { containers: fill(() => ({ $patch: "delete", name: "c" })) } },
      strategic,
    ),
    patch(
      `${pods}/${run}`,
      { spec: { "$setElementOrder/containers": fill((index) => ({ name: `c${index}` })) } },
      strategic,
    ),
    patch(
      `${pods}/${run}`,
      { metadata: { "$deleteFromPrimitiveList/finalizers": fill((index) => `a.b/${index}`) } },
      strategic,
    ),
  ],
  "large apply": (run) => [
    patch(
      `${pods}/${run}?fieldManager=a`,
      pod(run, { containers: fill((index) => ({ name: `c${index}`, image: "i" }), storable) }),
      apply,
    ),
    patch(
      `${maps}/${run}?fieldManager=a`,
      map(run, { data: record((index) => [`k${index}`, "v"], 600_000) }),
      apply,
    ),
    patch(
      `${maps}/${run}?fieldManager=b&force=true`,
      map(run, { data: record((index) => [`k${index}`, "w"], 600_000) }),
      apply,
    ),
    patch(
      `${maps}/${run}?fieldManager=c`,
      map(run, { data: record((index) => [`k${index}`, "x"], 600_000) }),
      apply,
    ),
    patch(`${maps}/${run}?fieldManager=b`, map(run), apply),
  ],
  "large YAML": (run) => [
    post(
      maps,
      `metadata: {name: ${run}}\ndata:\n${fill((index) => `  k${index}: v`, storable).join("\n")}\n`,
      yaml,
    ),
    post(
      maps,
      `metadata: {name: ${run}-b}\ndata: {${fill((index) => `k${index}: v`, storable).join(", ")}}\n`,
      yaml,
    ),
    post(maps, `${"- ".repeat(100_000)}a`, yaml),
    post(maps, `a: ${"[".repeat(100_000)}`, yaml),
    post(
      maps,
      `a: &a [x]\n${range(60_000)
        .map((index) => `k${index}: *a`)
        .join("\n")}`,
      yaml,
    ),
    post(maps, `a: "${"\\n".repeat(600_000)}"`, yaml),
    post(maps, `a: |\n${"  x\n".repeat(400_000)}`, yaml),
    post(maps, `${"a: b\n---\n".repeat(100_000)}`, yaml),
  ],
  "large definitions": (run) => [
    post(
      crds,
      definition(`${run}s`, {
        type: "object",
        properties: record((index) => [`p${index}`, { type: "string" }], storable),
      }),
    ),
    post(crds, definition(`${run}d`, { type: "object", properties: nestedSchema(200) })),
    post(
      crds,
      definition(`${run}e`, {
        type: "object",
        properties: { a: { type: "string", enum: fill((index) => `e${index}`, storable) } },
      }),
    ),
    post(
      crds,
      definition(`${run}r`, {
        type: "object",
        "x-kubernetes-validations": fill((index) => ({ rule: `${index} == ${index}` }), 200_000),
      }),
    ),
    post(
      crds,
      definition(`${run}x`, {
        type: "object",
        "x-kubernetes-validations": [{ rule: `${"(".repeat(100_000)}` }],
      }),
    ),
    post(
      crds,
      definition(`${run}y`, {
        type: "object",
        "x-kubernetes-validations": [{ rule: `${"1+".repeat(50_000)}1 == 1` }],
      }),
    ),
    post(
      crds,
      definition(`${run}f`, {
        type: "object",
        required: fill((index) => `r${index}`, storable),
        properties: { a: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } } },
      }),
    ),
  ],
  "large custom objects": (run) => {
    const at = `/apis/time.example.com/v1/namespaces/default/${run}o`;
    const object = (name: string, spec: JsonObject): JsonObject => ({
      apiVersion: "time.example.com/v1",
      kind: `K${run}o`,
      metadata: { name },
      spec,
    });
    const items = {
      type: "object",
      properties: { k: { type: "string" }, v: { type: "integer" } },
      required: ["k"],
    };
    const properties = {
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      map: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], items },
      list: { type: "array", items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      pattern: { type: "string", pattern: "^(a+)+$" },
    };
    return [
      post(
        crds,
        definition(`${run}o`, { type: "object", properties: { spec: { type: "object", properties } } }),
      ),
      post(at, object("set", { set: fill((index) => `s${index}`, storable) })),
      post(at, object("map", { map: fill((index) => ({ k: `k${index}`, v: 1 }), storable) })),
      patch(
        `${at}/map?fieldManager=a`,
        object("map", { map: fill((index) => ({ k: `k${index}`, v: 1 }), storable) }),
        apply,
      ),
      post(at, object("list", { list: fill((index) => ({ [`x${index}`]: index }), storable) })),
      post(at, object("wrong", { set: fill(() => 1, storable), map: fill(() => ({ v: "x" }), storable) })),
      post(at, object("same", { set: fill(() => "same", storable) })),
      post(at, object("pruned", { unknown: fill((index) => ({ a: index }), storable) })),
      post(at, object("pattern", { pattern: `${"a".repeat(storable)}!` })),
      { method: "GET", url: at },
    ];
  },
};

function nestedSchema(depth: number): JsonObject {
  let schema: JsonObject = { a: { type: "string" } };
  for (let level = 0; level < depth; level++) schema = { a: { type: "object", properties: schema } };
  return schema;
}
