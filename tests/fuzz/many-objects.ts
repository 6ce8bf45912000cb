import type { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { longestTurn } from "../../packages/control-plane/src/longest-turn.fixture.ts";

/** The longest turn of what was measured, and what each part of it took. */
export interface Measured {
  readonly longestMs: number;
  readonly parts: readonly { readonly what: string; readonly ms: number }[];
}

/** What a scene does to a control plane. */
interface Stage {
  readonly plane: ControlPlane;
  /** Sends a request that is not measured. */
  readonly send: Send;
  /** Measures a request, with all that its answer has, and what controllers then do. */
  readonly time: (what: string, ...request: Parameters<Send>) => Promise<void>;
}

/** @returns the status */
type Send = (method: string, path: string, body?: unknown, headers?: Headers) => Promise<number>;
type Headers = Readonly<Record<string, string>>;

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const protobuf = { accept: "application/vnd.kubernetes.protobuf" };
const partial = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
const merge = { "content-type": "application/merge-patch+json" };
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

async function fill({ send }: Stage, count: number, url: string, make: (index: number) => object) {
  for (const index of range(count)) {
    const status = await send("POST", url, make(index));
    if (status !== 201) throw new Error(`${url}: ${status}`);
  }
}

const map = (index: number, more: object = {}) => ({
  metadata: { name: `m${index}`, labels: { part: `p${index % 10}` }, ...more },
  data: { key: "value" },
});
const smallPod = (index: number, more: object = {}) => ({
  metadata: { name: `p${index}`, labels: { app: "web" }, ...more },
  spec: { containers: [{ name: "c", image: "i" }] },
});

/** Whether controllers run is said with each: without, only what the request costs is measured. */
interface Scene {
  readonly controllers: "all" | "none";
  readonly play: (stage: Stage) => Promise<void>;
}

/** What takes long because there are many objects, or because somebody else has a say in each. */
export const scenes: Readonly<Record<string, Scene>> = {
  "lists of many small objects": {
    controllers: "none",
    play: async (stage) => {
      await fill(stage, 20_000, maps, map);
      await stage.time("list", "GET", maps);
      await stage.time("list of all namespaces", "GET", "/api/v1/configmaps");
      await stage.time("list as a Table", "GET", maps, undefined, table);
      await stage.time("list in protobuf", "GET", maps, undefined, protobuf);
      await stage.time("list of metadata", "GET", maps, undefined, partial);
      await stage.time("list by a label", "GET", `${maps}?labelSelector=part%3Dp3`);
      await stage.time("list by a field", "GET", `${maps}?fieldSelector=metadata.name%3Dm3`);
      await stage.time("a page", "GET", `${maps}?limit=500`);
      await stage.time("deletecollection", "DELETE", maps);
    },
  },
  "many pods as a Table": {
    controllers: "none",
    play: async (stage) => {
      await stage.send("POST", "/api/v1/namespaces/default/serviceaccounts", {
        metadata: { name: "default" },
      });
      await fill(stage, 5_000, pods, smallPod);
      await stage.time("list", "GET", pods);
      await stage.time("list as a Table", "GET", pods, undefined, table);
      await stage.time("list in protobuf", "GET", pods, undefined, protobuf);
      await stage.time("deletecollection", "DELETE", `${pods}?gracePeriodSeconds=0`);
    },
  },
  "a namespace of many objects ends": {
    controllers: "all",
    play: async (stage) => {
      await stage.send("POST", "/api/v1/namespaces", { metadata: { name: "full" } });
      await fill(stage, 10_000, "/api/v1/namespaces/full/configmaps", map);
      await stage.time("delete", "DELETE", "/api/v1/namespaces/full");
    },
  },
  "an owner of many objects ends": {
    controllers: "all",
    play: async (stage) => {
      await stage.send("POST", maps, map(-1, { uid: undefined, name: "owner" }));
      const owner = stage.plane.store.get("configmaps", "default/owner")?.object.metadata.uid;
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner }];
      await fill(stage, 10_000, maps, (index) => map(index, { ownerReferences }));
      await stage.time("delete", "DELETE", `${maps}/owner`);
    },
  },
  "a Deployment of many pods": {
    controllers: "all",
    play: async (stage) => {
      const labels = { app: "web" };
      const deployments = "/apis/apps/v1/namespaces/default/deployments";
      await stage.send("POST", "/api/v1/namespaces/default/services", {
        metadata: { name: "web" },
        spec: { selector: labels, ports: [{ port: 80 }] },
      });
      await stage.time("create", "POST", deployments, {
        metadata: { name: "web" },
        spec: {
          replicas: 1_000,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      });
      await stage.time("scale", "PATCH", `${deployments}/web`, { spec: { replicas: 0 } }, merge);
    },
  },
  "a quota over many objects": {
    controllers: "all",
    play: async (stage) => {
      await fill(stage, 10_000, maps, map);
      await stage.time("create the quota", "POST", "/api/v1/namespaces/default/resourcequotas", {
        metadata: { name: "q" },
        spec: { hard: { "count/configmaps": "100000", pods: "10000" } },
      });
      await stage.time("create one more", "POST", maps, map(10_000));
      await stage.time("delete all", "DELETE", maps);
    },
  },
  "an admission policy over a large object": {
    controllers: "none",
    play: async (stage) => {
      const admission = "/apis/admissionregistration.k8s.io/v1";
      await stage.send("POST", `${admission}/validatingadmissionpolicies`, {
        metadata: { name: "p" },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
            ],
          },
          validations: [
            { expression: "!has(object.data) || object.data.all(key, object.data[key].size() < 100)" },
            { expression: "!has(object.data) || object.data.all(key, key.matches('^(k|[a-z])+[0-9]*$'))" },
          ],
        },
      });
      await stage.send("POST", `${admission}/validatingadmissionpolicybindings`, {
        metadata: { name: "p" },
        spec: { policyName: "p", validationActions: ["Deny"] },
      });
      const data = Object.fromEntries(range(50_000).map((index) => [`k${index}`, "v"]));
      await stage.time("create", "POST", maps, { metadata: { name: "large" }, data });
      await fill(stage, 2_000, maps, map);
      await stage.time("deletecollection", "DELETE", maps);
    },
  },
  "selectors of many terms over many objects": {
    controllers: "none",
    play: async (stage) => {
      await fill(stage, 20_000, maps, map);
      const terms = (make: (index: number) => string) =>
        encodeURIComponent(range(15_000).map(make).join(","));
      await stage.time(
        "labels that are not there",
        "GET",
        `${maps}?labelSelector=${terms((at) => `!k${at}`)}`,
      );
      await stage.time("labels that differ", "GET", `${maps}?labelSelector=${terms((at) => `part!=x${at}`)}`);
      await stage.time(
        "names that differ",
        "GET",
        `${maps}?fieldSelector=${terms((at) => `metadata.name!=x${at}`)}`,
      );
      const values = encodeURIComponent(
        `part notin (${range(60_000)
          .map((at) => `x${at}`)
          .join(",")})`,
      );
      await stage.time("many values", "GET", `${maps}?labelSelector=${values}`);
    },
  },
  "watches of many objects": {
    controllers: "none",
    play: async (stage) => {
      await fill(stage, 20_000, maps, map);
      const list =
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
      const watch = `${maps}?${list}&timeoutSeconds=1`;
      await stage.time("watch", "GET", watch);
      await stage.time("watch of none", "GET", `${watch}&labelSelector=none`);
      await stage.time("watch as a Table", "GET", watch, undefined, table);
      await stage.time("watch in protobuf", "GET", watch, undefined, protobuf);
      await stage.time("watch of metadata", "GET", watch, undefined, {
        accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      });
    },
  },
  "columns that search": {
    controllers: "none",
    play: async (stage) => {
      const twice = "[0,0]".repeat(20);
      const paths = [
        "..*..*..*.none",
        `.spec${twice}.none`,
        "..[?(@..x==1)].none",
        ".spec.list[0:9000:8999].none",
      ];
      await stage.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        metadata: { name: "nests.time.example.com" },
        spec: {
          group: "time.example.com",
          scope: "Namespaced",
          names: { plural: "nests", singular: "nest", kind: "Nest" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              additionalPrinterColumns: paths.map((jsonPath, at) => ({
                name: `C${at}`,
                type: "string",
                jsonPath,
              })),
              schema: {
                openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              },
            },
          ],
        },
      });
      const nests = "/apis/time.example.com/v1/namespaces/default/nests";
      const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) as object;
      await fill(stage, 200, nests, (index) => ({
        apiVersion: "time.example.com/v1",
        kind: "Nest",
        metadata: { name: `n${index}` },
        spec: { deep, list: range(500).map((at) => ({ at })) },
      }));
      await stage.time("one as a Table", "GET", `${nests}/n1`, undefined, table);
      await stage.time("all as a Table", "GET", nests, undefined, table);
    },
  },
  "expressions at their limit": {
    controllers: "none",
    play: async (stage) => {
      const admission = "/apis/admissionregistration.k8s.io/v1";
      const data = Object.fromEntries(range(40_000).map((index) => [`k${index}`, "value"]));
      const expressions = [
        "object.data.all(a, object.data.all(b, a.size() + b.size() > 0))",
        "lists.range(100).all(a, lists.range(100).all(b, lists.range(100).all(c, a + b + c >= 0)))",
        "object.data.map(k, k + object.data[k]).filter(k, k.contains('9')).sort().size() >= 0",
        "object.data.all(k, timestamp('2020-01-01T00:00:00Z').getDayOfYear('America/New_York') >= 0)",
      ];
      for (const [index, expression] of expressions.entries()) {
        const name = `e${index}`;
        await stage.send("POST", `${admission}/validatingadmissionpolicies`, {
          metadata: { name },
          spec: {
            failurePolicy: "Ignore",
            matchConstraints: {
              resourceRules: [
                { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
              ],
            },
            validations: [{ expression }],
          },
        });
        await stage.send("POST", `${admission}/validatingadmissionpolicybindings`, {
          metadata: { name },
          spec: { policyName: name, validationActions: ["Audit"] },
        });
        await stage.time(expression, "POST", `${maps}?dryRun=All`, { metadata: { name: "one" }, data });
        await stage.send("DELETE", `${admission}/validatingadmissionpolicybindings/${name}`);
        await stage.send("DELETE", `${admission}/validatingadmissionpolicies/${name}`);
      }
    },
  },
  "patches of a webhook": {
    controllers: "none",
    play: async (stage) => {
      const patch = range(9_000).map((index) => ({ op: "add", path: `/data/w${index}`, value: "v" }));
      const answer = Buffer.from(JSON.stringify(patch)).toString("base64");
      stage.plane.bindService("default", "hook", 443, ({ body }) => {
        const { request } = JSON.parse(body) as { request: { uid: string } };
        const response = { uid: request.uid, allowed: true, patchType: "JSONPatch", patch: answer };
        const kind = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
        return { body: JSON.stringify({ ...kind, response }) };
      });
      const rules = [
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
      ];
      await stage.send("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
        metadata: { name: "hook" },
        webhooks: [
          {
            name: "hook.example.com",
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            clientConfig: { service: { namespace: "default", name: "hook" } },
            rules,
          },
        ],
      });
      await stage.time("a small object", "POST", maps, map(0));
      const data = Object.fromEntries(range(30_000).map((index) => [`k${index}`, "v"]));
      await stage.time("a large object", "POST", maps, { metadata: { name: "large" }, data });
    },
  },
  "conversion of many objects": {
    controllers: "none",
    play: async (stage) => {
      stage.plane.bindService("default", "convert", 443, ({ body }) => {
        const { request } = JSON.parse(body) as {
          request: { uid: string; desiredAPIVersion: string; objects: object[] };
        };
        const convertedObjects = request.objects.map((object) => ({
          ...object,
          apiVersion: request.desiredAPIVersion,
        }));
        const response = { uid: request.uid, convertedObjects, result: { status: "Success" } };
        const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
        return { body: JSON.stringify({ ...kind, response }) };
      });
      const schema = {
        openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      };
      await stage.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        metadata: { name: "boxes.time.example.com" },
        spec: {
          group: "time.example.com",
          scope: "Namespaced",
          names: { plural: "boxes", singular: "box", kind: "Box" },
          versions: [
            { name: "v1", served: true, storage: true, schema },
            { name: "v2", served: true, storage: false, schema },
          ],
          conversion: {
            strategy: "Webhook",
            webhook: {
              conversionReviewVersions: ["v1"],
              clientConfig: { service: { namespace: "default", name: "convert" } },
            },
          },
        },
      });
      const boxes = (version: string) => `/apis/time.example.com/${version}/namespaces/default/boxes`;
      const box = (index: number) => ({
        apiVersion: "time.example.com/v1",
        kind: "Box",
        metadata: { name: `b${index}` },
        spec: { size: index },
      });
      await fill(stage, 5_000, boxes("v1"), box);
      await stage.time("list as stored", "GET", boxes("v1"));
      await stage.time("list converted", "GET", boxes("v2"));
      await stage.time("list converted, as a Table", "GET", boxes("v2"), undefined, table);
      await stage.time("deletecollection, converted", "DELETE", boxes("v2"));
    },
  },
};

/** Plays a scene on a control plane that has nothing else to do. */
export async function measure({ play }: Scene, plane: ControlPlane): Promise<Measured> {
  const transport = plane.connect();
  const send: Send = async (method, path, body, headers = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return await sendText(method, path, text, headers);
  };
  const sendText = async (method: string, path: string, text: string | undefined, headers: Headers) => {
    const { status, body } = await transport.request({
      method,
      path,
      headers: { "content-type": "application/json", ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
    const chunks = await Array.fromAsync(body);
    if (status >= 300) process.stdout.write(`${Buffer.concat(chunks).toString().slice(0, 300)}\n`);
    return status;
  };
  const parts: { what: string; ms: number }[] = [];
  const time: Stage["time"] = async (what, method, path, body, headers = {}) => {
    await plane.settle();
    const text = body === undefined ? undefined : JSON.stringify(body);
    let status = 0;
    const ms = await longestTurn(async () => {
      status = await sendText(method, path, text, headers);
      await plane.settle();
    });
    if (status >= 300) throw new Error(`${what}: ${status}`);
    parts.push({ what, ms: Math.round(ms) });
  };
  await play({ plane, send, time });
  return { longestMs: Math.max(...parts.map(({ ms }) => ms)), parts };
}
