import { afterAll, beforeAll, expect, test } from "vitest";
import { administrator } from "./authority.ts";
import { ControlPlane } from "./control-plane.ts";
import type { JsonObject } from "./json.ts";
import { longestTurn } from "./longest-turn.fixture.ts";

/** Requests that grow: `size` is how many parts they have. */
interface Case {
  readonly method: string;
  readonly path: (size: number) => string;
  readonly type?: string;
  readonly body?: (size: number) => unknown;
  /** Sent before, and not measured. */
  readonly first?: (size: number) => Case;
}

const times = <T>(size: number, make: (index: number) => T): T[] =>
  Array.from({ length: size }, (_, index) => make(index));
const fields = (size: number, value: (index: number) => unknown = () => "v") =>
  Object.fromEntries(times(size, (index) => [`k${index}`, value(index)]));

const group = "/apis/time.example.com/v1/namespaces/default/shapes";
const shape = (name: string, rest: object) => ({
  apiVersion: "time.example.com/v1",
  kind: "Shape",
  metadata: { name },
  ...rest,
});
const core = "/api/v1/namespaces/default";
const create = (path: string, body: (size: number) => unknown): Case => ({
  method: "POST",
  path: () => path,
  body,
});
const put = (name: string, body: (size: number) => object): Case => ({
  method: "PATCH",
  path: (size) => `${group}/${name}-${size}?fieldManager=${name}&force=true`,
  type: "application/apply-patch+yaml",
  body: (size) => shape(`${name}-${size}`, body(size)),
});
const reversed = (size: number, make: (index: number) => unknown) => times(size, (at) => make(size - 1 - at));
const item = (index: number) => ({ k: `k${index}`, v: index });
const env = (index: number) => ({ name: `E${index}`, value: "v" });
const deployment = (name: string, variables: unknown[]) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "c", image: "i", env: variables }] },
    },
  },
});
const pod = (name: string, spec: object, container: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i", ...container }], ...spec },
});
const strategic = "application/strategic-merge-patch+json";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const configMap = (metadata: object, rest: object = {}) => ({ metadata, ...rest });
const patch = (type: string, path: string, body: (size: number) => unknown): Case => ({
  method: "PATCH",
  path: () => path,
  type,
  body,
});

const cases: { readonly [what: string]: Case } = {
  "a map of many keys": create(`${core}/configmaps`, (size) =>
    configMap({ name: `map-${size}` }, { data: fields(size) }),
  ),
  "many labels": create(`${core}/configmaps`, (size) =>
    configMap({ name: `labels-${size}`, labels: fields(size) }),
  ),
  "many finalizers": create(`${core}/configmaps`, (size) =>
    configMap({ name: `finalizers-${size}`, finalizers: times(size, (index) => `a.b/c${index}`) }),
  ),
  "many owners": create(`${core}/configmaps`, (size) =>
    configMap({
      name: `owners-${size}`,
      ownerReferences: times(size, (index) => ({
        apiVersion: "v1",
        kind: "Pod",
        name: `p${index}`,
        uid: `${index}`,
      })),
    }),
  ),
  "many managers": create(`${core}/configmaps`, (size) =>
    configMap({
      name: `managers-${size}`,
      managedFields: times(size, (index) => ({
        manager: `m${index}`,
        operation: "Update",
        apiVersion: "v1",
        time: "2020-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
      })),
    }),
  ),
  "unknown fields": create(`${core}/configmaps`, (size) => configMap({ name: `x-${size}` }, fields(size))),
  "repeated fields": create(
    `${core}/configmaps`,
    (size) => `{"metadata":{"name":"r-${size}"},"data":{${times(size, () => '"a":"b"').join(",")}}}`,
  ),
  "repeated fields of YAML": {
    ...create(
      `${core}/configmaps`,
      (size) => `metadata: {name: y-${size}}\ndata:\n${times(size, (index) => `  a: "${index}"`).join("\n")}`,
    ),
    type: "application/yaml",
  },
  "a set": create(group, (size) => shape(`set-${size}`, { set: times(size, (index) => `v${index}`) })),
  "a list by keys": create(group, (size) => shape(`list-${size}`, { list: times(size, item) })),
  "a list by keys, applied": put("applied", (size) => ({ list: times(size, item) })),
  "a list by keys, applied again in another order": {
    ...put("again", (size) => ({ list: reversed(size, item) })),
    first: () => put("again", (size) => ({ list: times(size, item) })),
  },
  "a list with faults": create(group, (size) => shape("bad", { list: times(size, () => ({ v: "x" })) })),
  "fields with faults": create(group, (size) => shape("bad", { numbers: fields(size, () => "x") })),
  "a rule on each item": create(group, (size) =>
    shape(`ruled-${size}`, { ruled: times(size, (index) => ({ v: index })) }),
  ),
  "a list merged strategically": {
    ...patch(strategic, `${deployments}/smp`, (size) => ({
      spec: { template: { spec: { containers: [{ name: "c", env: reversed(size, env) }] } } },
    })),
    path: (size) => `${deployments}/smp-${size}`,
    first: () => create(deployments, (size) => deployment(`smp-${size}`, times(size, env))),
  },
  "operations of a JSON patch": {
    ...patch("application/json-patch+json", "", (size) =>
      times(Math.min(size, 10_000), (index) => ({ op: "add", path: `/data/k${index}`, value: "x" })),
    ),
    path: (size) => `${core}/configmaps/ops-${size}`,
    first: () =>
      create(`${core}/configmaps`, (size) => configMap({ name: `ops-${size}` }, { data: { a: "b" } })),
  },
  "ports of a Service": create(`${core}/services`, (size) => ({
    metadata: { name: `ports-${size}` },
    spec: { ports: times(size, (index) => ({ name: `p${index}`, port: (index % 65_535) + 1 })) },
  })),
  "containers of a Deployment": create(deployments, (size) => {
    const { spec, metadata } = deployment(`containers-${size}`, []);
    const containers = times(size, (index) => ({ name: `c${index}`, image: "i" }));
    return { metadata, spec: { ...spec, template: { ...spec.template, spec: { containers } } } };
  }),
  "volumes of a Deployment": create(deployments, (size) => {
    const { spec, metadata } = deployment(`volumes-${size}`, []);
    const volumes = times(size, (index) => ({ name: `v${index}`, emptyDir: {} }));
    const volumeMounts = times(size, (index) => ({ name: `v${index}`, mountPath: `/a${index}` }));
    const containers = [{ name: "c", image: "i", volumeMounts }];
    return { metadata, spec: { ...spec, template: { ...spec.template, spec: { containers, volumes } } } };
  }),
  "tolerations of a pod that is patched": {
    ...patch(strategic, `${core}/pods/tolerant`, () => ({ metadata: { labels: { a: "b" } } })),
    path: (size) => `${core}/pods/tolerant-${size}`,
    first: (size) =>
      create(`${core}/pods`, () =>
        pod(`tolerant-${size}`, {
          tolerations: times(size, (index) => ({ key: `k${index}`, operator: "Exists" })),
        }),
      ),
  },
  "mounts and devices of a container": create(`${core}/pods`, (size) =>
    pod(
      `mounts-${size}`,
      { volumes: [{ name: "v", emptyDir: {} }] },
      {
        volumeMounts: times(size, (index) => ({ name: "v", mountPath: `/m/${index}` })),
        volumeDevices: times(size, (index) => ({ name: `d${index}`, devicePath: `/d/${index}` })),
      },
    ),
  ),
  "host names and spread constraints of a pod": create(`${core}/pods`, (size) =>
    pod(`spread-${size}`, {
      hostAliases: times(size, (index) => ({ ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` })),
      topologySpreadConstraints: times(size, (index) => ({
        maxSkew: 1,
        topologyKey: `k${index}`,
        whenUnsatisfiable: "DoNotSchedule",
      })),
    }),
  ),
  "containers that annotations name": create(`${core}/pods`, (size) => {
    const appArmor = "container.apparmor.security.beta.kubernetes.io";
    const annotations = Object.fromEntries(
      times(size, (index) => [`${appArmor}/c${index}`, "runtime/default"]),
    );
    const containers = times(size, (index) => ({ name: `c${size - 1 - index}`, image: "i" }));
    return { ...pod(`armor-${size}`, { containers }), metadata: { name: `armor-${size}`, annotations } };
  }),
  "addresses of a node": create("/api/v1/nodes", (size) => ({
    metadata: { name: `addresses-${size}` },
    status: { addresses: times(size, (index) => ({ type: "Hostname", address: `h${index}` })) },
  })),
  "scopes of a quota": create(`${core}/resourcequotas`, (size) => ({
    metadata: { name: `scopes-${size}` },
    spec: { hard: fields(size, () => "1"), scopes: times(size, (index) => (index % 2 ? "BestEffort" : "x")) },
  })),
  "claims and volumes of a StatefulSet": create("/apis/apps/v1/namespaces/default/statefulsets", (size) => {
    const claim = (index: number) => ({
      metadata: { name: `v${index}` },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    const volumes = times(size, (index) => ({ name: `w${index}`, emptyDir: {} }));
    const { spec } = deployment("", []);
    const template = { ...spec.template, spec: { ...spec.template.spec, volumes } };
    return {
      metadata: { name: `claims-${size}` },
      spec: { ...spec, serviceName: "s", template, volumeClaimTemplates: times(size, claim) },
    };
  }),
  "resources of a webhook": create(
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    (size) => ({
      metadata: { name: `resources-${size}` },
      webhooks: [
        {
          name: "a.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { url: "https://example.com" },
          rules: [
            {
              apiGroups: ["none.example.com"],
              apiVersions: ["v1"],
              operations: ["CREATE"],
              resources: times(size, (index) => `r${index}/status`),
            },
          ],
        },
      ],
    }),
  ),
  "rules of a role": create("/apis/rbac.authorization.k8s.io/v1/clusterroles", (size) => ({
    metadata: { name: `role-${size}` },
    rules: times(size, (index) => ({ apiGroups: [""], resources: [`r${index}`], verbs: ["get"] })),
  })),
  "a selector of many labels": {
    method: "GET",
    path: (size) => `${core}/pods?labelSelector=${times(size, (index) => `a${index}`).join(",")}`,
  },
  "a selector of many values": {
    method: "GET",
    path: (size) => `${core}/pods?labelSelector=a+in+(${times(size, (index) => `v${index}`).join(",")})`,
  },
  "a selector of many fields": {
    method: "GET",
    path: (size) => `${core}/pods?fieldSelector=${times(size, (i) => `metadata.name!=a${i}`).join(",")}`,
  },
  "many parameters": {
    method: "GET",
    path: (size) => `${core}/pods?${times(size, (index) => `a${index}=b`).join("&")}`,
  },
  "a schema of many fields": create(
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
    (size) =>
      definition(
        "wides",
        fields(size, () => ({ type: "string", pattern: "^a+$" })),
      ),
  ),
};

function definition(plural: string, properties: object): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.time.example.com` },
    spec: {
      group: "time.example.com",
      scope: "Namespaced",
      names: { plural, kind: `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties } },
        },
      ],
    },
  } as JsonObject;
}

let plane: ControlPlane;

beforeAll(async () => {
  plane = await ControlPlane.start({ controllers: "none" });
  const v = { type: "integer" };
  const items = { type: "object", required: ["k"], properties: { k: { type: "string" }, v } };
  const rule = { rule: "self.v >= 0" };
  const properties = {
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    list: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items,
    },
    numbers: { type: "object", additionalProperties: v },
    ruled: {
      type: "array",
      maxItems: 100_000,
      items: { type: "object", properties: { v }, "x-kubernetes-validations": [rule] },
    },
  };
  // Pods want it.
  const account = create(`${core}/serviceaccounts`, () => ({ metadata: { name: "default" } }));
  await send(account, 0);
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await send({ method: "POST", path: () => crds, body: () => definition("shapes", properties) }, 0);
});

afterAll(() => plane.close());

async function send(request: Case, size: number): Promise<number> {
  const body = request.body?.(size);
  const before = process.threadCpuUsage();
  const response = await plane.handle({
    method: request.method,
    url: request.path(size),
    headers: { "content-type": request.type ?? "application/json" },
    body:
      body === undefined ? undefined : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    peer: administrator,
    signal: new AbortController().signal,
  });
  const { user, system } = process.threadCpuUsage(before);
  // It must get as far as it is meant to.
  if (response.status >= 400 && response.status !== 422)
    throw new Error(`${request.path(size)}: ${response.status}`);
  return (user + system) / 1_000;
}

/** What is done once, and what depends on the machine's mood, is less than this. */
const noise = 40;

test.each(Object.entries(cases))(
  "%s takes no more than linear time",
  { timeout: 60_000 },
  async (_what, one) => {
    const took = async (size: number) => {
      if (one.first) await send(one.first(size), size);
      return send(one, size);
    };
    await took(450);
    // CPU time is counted in ticks that may be longer than the small request, so one look may be
    // unlucky. A request that takes too much time does so each time.
    const looks: { readonly small: number; readonly large: number }[] = [];
    const isLinear = () => looks.some(({ small, large }) => large < 16 * small + noise);
    for (let size = 500; looks.length < 3 && !isLinear(); size += 1)
      // Eight times the size: quadratic time would be 64 times as long.
      looks.push({ small: await took(size), large: await took(8 * size) });
    expect(isLinear(), JSON.stringify(looks)).toBe(true);
  },
);

test("objects of 100 kB delay no other request for more than 100 ms, in whichever way they are written", {
  timeout: 60_000,
}, async () => {
  const size = 7_000;
  const map = (name: string) =>
    configMap({ name }, { apiVersion: "v1", kind: "ConfigMap", data: fields(size, () => "v") });
  const custom = (name: string) =>
    shape(name, { list: times(size / 2, item), set: times(size / 2, (index) => `s${index}`) });
  const writes = (run: string): Case[] => [
    create(`${core}/configmaps`, () => map(run)),
    create(group, () => custom(run)),
    applied(`${core}/configmaps/${run}`, map(run)),
    applied(`${core}/configmaps/${run}-new`, map(`${run}-new`)),
    applied(`${group}/${run}`, custom(run)),
  ];
  let longest = 0;
  // The first run compiles code.
  for (const run of ["first", "second"])
    for (const write of writes(run)) {
      const tookMs = await longestTurn(() => send(write, 0));
      if (run === "second") longest = Math.max(longest, tookMs);
    }
  expect(longest).toBeLessThan(100);
});

test("more faults than a call takes arguments are reported", { timeout: 120_000 }, async () => {
  const bad = Object.fromEntries(times(130_000, (index) => [`!${index}`, "v"]));
  // It is refused as invalid, or `send` throws.
  await send(
    create(`${core}/configmaps`, () => configMap({ name: "faults", labels: bad })),
    0,
  );
});

function applied(path: string, object: object): Case {
  const type = "application/apply-patch+yaml";
  return { method: "PATCH", path: () => `${path}?fieldManager=a&force=true`, body: () => object, type };
}
