/**
 * Installs, tests, upgrades, rolls back and uninstalls a chart with helm: definitions, hooks, a
 * test pod. About 15 s.
 *
 *     HELM=PROGRAM node tests/clients/helm.ts
 *
 * With KUBECONFIG, that cluster must show helm the same.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findProgram, run, skip } from "./program.ts";
import { onServers } from "./servers.ts";

const helm = (await findProgram("helm", "HELM")) ?? skip("there is no helm");
const kubectl = (await findProgram("kubectl", "KUBECTL")) ?? skip("there is no kubectl");

const chart = {
  "Chart.yaml": "apiVersion: v2\nname: small\nversion: 0.1.0\n",
  "values.yaml": "replicas: 1\nword: one\n",
  "crds/trinkets.yaml": JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "trinkets.helm.example.com" },
    spec: {
      group: "helm.example.com",
      scope: "Namespaced",
      names: { plural: "trinkets", kind: "Trinket" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: { type: "object", properties: { word: { type: "string" } } } },
            },
          },
        },
      ],
    },
  }),
  "templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-words}
data: {word: {{ .Values.word }}}
---
apiVersion: helm.example.com/v1
kind: Trinket
metadata: {name: {{ .Release.Name }}}
spec: {word: {{ .Values.word }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10.1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80}]}
`,
  "templates/NOTES.txt": "The word is {{ .Values.word }}.\n",
  "templates/hooks.yaml": `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-before
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "before-hook-creation"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1.35", command: ["true"]}]}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-after
  annotations: {helm.sh/hook: "post-install,post-upgrade,post-rollback", helm.sh/hook-weight: "5"}
data: {revision: "{{ .Release.Revision }}"}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-last
  annotations: {helm.sh/hook: "pre-delete", helm.sh/hook-delete-policy: "hook-succeeded"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1.35", command: ["true"]}]}
`,
  "templates/tests/test.yaml": `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-test
  annotations: {helm.sh/hook: test, node.windlass.dev/behavior: "succeed"}
spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1.35", command: ["true"]}]}
`,
};

const namespace = "helm-client";
const patience = ["--wait", "--timeout", "90s"];
/**
 * What is done with the chart, one after the other. The last but one of the upgrades fails, as `x`
 * is no number.
 */
const calls: readonly (readonly string[])[] = [
  ["install", "demo", "CHART", "--create-namespace", ...patience],
  ["test", "demo", "--timeout", "90s"],
  ["status", "demo"],
  ["upgrade", "demo", "CHART", "--set", "word=two,replicas=2", ...patience],
  ["upgrade", "demo", "CHART", "--set", "replicas=x"],
  ["status", "demo"],
  ["rollback", "demo", "1", ...patience],
  ["status", "demo"],
  ["get", "hooks", "demo"],
  ["history", "demo"],
  ["list"],
  ["get", "all", "demo"],
  ["upgrade", "demo", "CHART", "--server-side=false", "--force-replace", "--set", "word=three", ...patience],
  ["upgrade", "demo", "CHART", "--set", "word=four", "--dry-run=server"],
  ["history", "demo"],
  ["uninstall", "demo", "--keep-history", ...patience],
  ["history", "demo"],
  ["uninstall", "demo", ...patience],
  ["list", "--all"],
  ["status", "demo"],
];

await onServers("helm", async ({ folder, kubeconfig }) => {
  const place = join(folder, "small");
  for (const [name, content] of Object.entries(chart)) {
    const file = join(place, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const env = {
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(folder, "cache"),
    HELM_DATA_HOME: join(folder, "data"),
  };
  const report: string[] = [];
  for (const call of calls) {
    const args = [...call.map((word) => (word === "CHART" ? place : word)), "--namespace", namespace];
    const { code, output } = await run(helm, args, env);
    report.push(
      `$ helm ${call.join(" ")}`,
      inOrder(normal(output.replaceAll(place, "CHART"))),
      `ended with ${code}`,
    );
  }
  for (const left of [`namespace/${namespace}`, "crd/trinkets.helm.example.com"]) {
    await run(kubectl, ["delete", left], env);
  }
  return `${report.join("\n")}\n`;
});

/**
 * helm prints an object's kinds in an order that changes every time. It also prints pods, of which
 * some may still be on their way out.
 */
function inOrder(text: string): string {
  const [before = "", ...sections] = text.split(/^==> /m);
  const last = sections.pop();
  if (last === undefined) return text;
  const end = last.indexOf("\n\n\n");
  const rest = end < 0 ? "" : last.slice(end);
  const sorted = [...sections, last.slice(0, last.length - rest.length)]
    .filter((section) => !section.startsWith("v1/Pod(related)"))
    .map((section) => section.trim())
    .sort();
  return `${before}${sorted.map((section) => `==> ${section}\n`).join("")}${rest}`;
}

/**
 * What is different every time: times, ages, addresses, the random ends of names, and how wide that
 * makes a table's columns.
 */
function normal(text: string): string {
  return text
    .replaceAll(/(\w{3} )?\w{3} +\d+ \d\d:\d\d:\d\d( [+-]?\w+)? \d{4}/g, "TIME")
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]*( ?[+-]\d{4}| ?[+-]\d\d:\d\d|Z)?( UTC)?/g, "TIME")
    .replaceAll(/time=TIME /g, "")
    .replaceAll(/-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, "-HASH")
    .replaceAll(/\b(\d{1,3}\.){3}\d{1,3}\b/g, "ADDRESS")
    .replaceAll(/ (\d+[hms])+$/gm, " AGE")
    .replaceAll(/ {2,}| *\t/g, "  ");
}
