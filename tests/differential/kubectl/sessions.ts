import type { Invocation } from "./session.ts";

/** Invocations in order. */
export interface Session {
  readonly name: string;
  readonly invocations: readonly Invocation[];
}

const call = (text: string, more: Partial<Invocation> = {}): Invocation => ({
  args: [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
  ...more,
});
const json = (value: object) => JSON.stringify(value);

const web = (image: string, replicas = 1) =>
  json({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", labels: { app: "web" } },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image }] },
      },
    },
  });

const definition = json({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.{ns}.example.com" },
  spec: {
    group: "{ns}.example.com",
    scope: "Namespaced",
    names: { plural: "gadgets", kind: "Gadget", shortNames: ["gd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: "A thing of some use",
            properties: {
              spec: {
                type: "object",
                description: "What is wanted",
                properties: { size: { type: "integer", minimum: 0, description: "How big it is" } },
              },
              status: { type: "object", properties: { phase: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
});
const gadget = (size: number | string) =>
  json({ apiVersion: "{ns}.example.com/v1", kind: "Gadget", metadata: { name: "g" }, spec: { size } });

/** A program that stands in for an editor: it changes one word. */
const editor = { KUBE_EDITOR: "sed -i s/one/uno/" };

export const sessions: readonly Session[] = [
  {
    name: "objects",
    invocations: [
      call("create configmap a --from-literal=x=one --from-literal=y=two"),
      call("create configmap a --from-literal=x=one"),
      call("get configmap a"),
      call("get cm a -o yaml"),
      call("get cm a -o json"),
      call("get cm a -o jsonpath={.data.x}"),
      call("get cm a -o name"),
      call("get cm a -o custom-columns=NAME:.metadata.name,X:.data.x"),
      call("get cm a -o wide --show-labels"),
      call("get cm nope"),
      call("get nope"),
      call("get cm -l app=none"),
      call("get cm --field-selector metadata.name=a"),
      call("get cm --field-selector spec.x=a"),
      call("label cm a app=web"),
      call("label cm a app=api"),
      call("label cm a app=api --overwrite"),
      call("label cm a bad/label/x=y"),
      call("annotate cm a note=hello"),
      call("annotate cm a note-"),
      call('patch cm a -p {\\"data\\":{\\"z\\":\\"1\\"}}'.replaceAll("\\", "")),
      { args: ["patch", "cm", "a", "--type=merge", "-p", '{"data":{"z":null}}'] },
      { args: ["patch", "cm", "a", "--type=json", "-p", '[{"op":"add","path":"/data/j","value":"1"}]'] },
      { args: ["patch", "cm", "a", "--type=json", "-p", '[{"op":"remove","path":"/data/none"}]'] },
      call("edit cm a", { env: editor }),
      call("get cm a -o jsonpath={.data.x}"),
      call("create secret generic s --from-literal=password=hidden"),
      call("describe secret s"),
      call("describe cm a"),
      call("create serviceaccount robot"),
      call("create role reader --verb=get,list --resource=pods"),
      call("create rolebinding reads --role=reader --serviceaccount={ns}:robot"),
      call("auth can-i list pods --as=system:serviceaccount:{ns}:robot"),
      call("auth can-i delete pods --as=system:serviceaccount:{ns}:robot"),
      call("auth can-i * *"),
      call("auth whoami --as=somebody -o jsonpath={.status.userInfo.username}"),
      call("get pods --as=system:serviceaccount:{ns}:robot"),
      call("get secrets --as=system:serviceaccount:{ns}:robot"),
      call("delete pod nope --as=system:serviceaccount:{ns}:robot"),
      call("delete cm a"),
      call("delete cm a"),
      call("delete cm a --ignore-not-found"),
      call("create quota q --hard=pods=2 --dry-run=server -o name"),
      call("create cronjob c --image=busybox --schedule=bad --dry-run=server"),
      call("create namespace Bad_Name"),
    ],
  },
  {
    name: "applying",
    invocations: [
      {
        args: ["apply", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "1" } }),
      },
      {
        args: ["apply", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "1" } }),
      },
      {
        args: ["diff", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "2" } }),
        env: { KUBECTL_EXTERNAL_DIFF: "diff -N --label=old --label=new" },
      },
      {
        args: ["apply", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { b: "2" } }),
      },
      call("get cm c -o jsonpath={.data}"),
      {
        args: ["apply", "--server-side", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { b: "3" } }),
      },
      call("get cm c -o yaml --show-managed-fields"),
      {
        args: ["apply", "--server-side", "--field-manager=other", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { b: "4" } }),
      },
      {
        args: ["apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { b: "4" } }),
      },
      {
        args: ["apply", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, bogus: 1 }),
      },
      {
        args: ["apply", "--validate=warn", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c2" }, bogus: 1 }),
      },
      {
        args: ["apply", "--dry-run=server", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c3" } }),
      },
      {
        args: ["replace", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { r: "1" } }),
      },
      {
        args: ["replace", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "none" } }),
      },
      {
        args: ["replace", "--force", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { r: "2" } }),
      },
      {
        args: ["create", "-f", "-"],
        input: json({
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "bad" },
          spec: { replicas: "x" },
        }),
      },
      {
        args: ["create", "-f", "-"],
        input: json({ apiVersion: "v9", kind: "Nope", metadata: { name: "bad" } }),
      },
      {
        args: ["delete", "-f", "-"],
        input: json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }),
      },
    ],
  },
  {
    name: "custom kinds",
    invocations: [
      { args: ["apply", "-f", "-"], input: definition },
      call("wait --for=condition=Established crd/gadgets.{ns}.example.com --timeout=30s"),
      { args: ["apply", "-f", "-"], input: gadget(3), until: /created|configured|unchanged/, quiet: true },
      call("get gadgets"),
      call("get gd g -o yaml"),
      { args: ["apply", "-f", "-"], input: gadget(-1) },
      { args: ["apply", "-f", "-"], input: gadget("x") },
      { args: ["apply", "-f", "-"], input: gadget(4) },
      { args: ["apply", "--server-side", "-f", "-"], input: gadget(4) },
      {
        args: [
          "patch",
          "gadget",
          "g",
          "--type=merge",
          "--subresource=status",
          "-p",
          '{"status":{"phase":"Ready"}}',
        ],
      },
      call("wait gadget/g --for=jsonpath={.status.phase}=Ready --timeout=10s"),
      call("explain gadget", { until: /A thing/ }),
      call("explain gadget.spec --recursive"),
      call("explain gadget.spec.nope"),
      call("describe gadget g"),
      call("api-resources --api-group={ns}.example.com --no-headers"),
      call("delete gadget g --wait=false"),
      call("delete crd gadgets.{ns}.example.com"),
    ],
  },
  {
    name: "cluster",
    invocations: [
      call("version -o json", { quiet: true }),
      call("api-versions"),
      call("api-resources --verbs=list --namespaced -o name"),
      call("api-resources --namespaced=false -o name"),
      call("get namespace {ns} -o jsonpath={.status.phase}"),
      call("describe namespace {ns}"),
      call("explain deployment.spec.strategy --output=plaintext-openapiv2"),
      call("explain nope"),
      call("get --raw /healthz"),
      call("get --raw /nope"),
      call("get --raw /api/v1/namespaces/{ns}/configmaps?limit=x"),
      call("taint node nope a=b:NoSchedule"),
      call("drain nope --dry-run=client"),
      call("cordon nope"),
      call("auth can-i --list --as=system:anonymous"),
      call("events"),
      call("get events"),
      call("cluster-info"),
      call("get pods -w --request-timeout=1s"),
      call("create token nobody"),
      call("certificate approve nope"),
    ],
  },
  {
    name: "workloads",
    invocations: [
      { args: ["apply", "-f", "-"], input: web("IMAGE") },
      call("rollout status deployment/web --timeout=60s", { quiet: true }),
      call("get deployment web", { until: /1\/1/ }),
      call("get deploy web -o wide"),
      call("get rs"),
      call("get pods", { until: /Running/ }),
      call("get all"),
      call("scale deployment web --replicas=2"),
      call("rollout status deployment/web --timeout=60s", { quiet: true }),
      call("get deployment web", { until: /2\/2/ }),
      call("rollout history deployment/web"),
      call("rollout restart deployment/web"),
      call("rollout status deployment/web --timeout=60s", { quiet: true }),
      call("rollout history deployment/web"),
      call("rollout undo deployment/web --to-revision=9"),
      call("rollout pause deployment/web"),
      call("rollout pause deployment/web"),
      call("rollout resume deployment/web"),
      call("set image deployment/web main=IMAGE"),
      call("set image deployment/web none=x"),
      call("set env deployment/web A=b --dry-run=server -o jsonpath={.spec.template.spec.containers[0].env}"),
      call("expose deployment web --port=80 --target-port=8080"),
      call("expose deployment web --port=80"),
      call("get svc web"),
      call("autoscale deployment web --min=1 --max=3 --cpu=50%"),
      call("get hpa web -o jsonpath={.spec.maxReplicas}"),
      call("wait deployment/web --for=condition=Available --timeout=60s"),
      call("describe svc web", { until: /Endpoints: +\d/ }),
      call("describe deployment web", { quiet: true }),
      call("run solo --image=IMAGE --restart=Never", {}),
      call("wait pod/solo --for=condition=Ready --timeout=60s"),
      call("get pod solo -o jsonpath={.status.phase}"),
      {
        args: ["get", "events", "--field-selector=involvedObject.name=solo,reason=Scheduled", "--no-headers"],
      },
      call("logs nope"),
      call("exec nope -- true"),
      call("cp nope:/x /tmp/windlass-none"),
      call("top pods"),
      call("delete pod solo --grace-period=0 --force"),
      call("delete deployment web --cascade=orphan"),
      call("get rs -o name"),
      call("delete rs --all"),
      call("delete hpa,svc web"),
    ],
  },
];
