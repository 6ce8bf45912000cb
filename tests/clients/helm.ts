/**
 * Installs, upgrades, rolls back and uninstalls a small chart with helm on the embedded control plane. About 10 s.
 *
 *     HELM=PROGRAM node tests/clients/helm.ts
 */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram, mustRun, run, skip, withControlPlane } from "./program.ts";

const helm = (await findProgram("helm", "HELM")) ?? skip("there is no helm");

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
    spec: {containers: [{name: main, image: "registry.example.com/main:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80}]}
`,
  "templates/hook.yaml": `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-before
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "before-hook-creation"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/main:1"}]}
`,
};

await withControlPlane(async ({ folder, kubeconfig }) => {
  const at = join(folder, "small");
  for (const [name, content] of Object.entries(chart)) {
    const file = join(at, name);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, content);
  }
  const env = {
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(folder, "cache"),
    HELM_DATA_HOME: join(folder, "data"),
  };
  const started = Date.now();
  const call = (...args: string[]) => mustRun(helm, args, env);
  const word = async () => /word: (\w+)/.exec(await call("get", "manifest", "demo", "-n", "demo"))?.[1];

  await call("install", "demo", at, "-n", "demo", "--create-namespace", "--wait", "--timeout", "60s");
  assert.match(await call("list", "-n", "demo"), /demo\s+demo\s+1\s.*deployed/);
  assert.equal(await word(), "one");
  await call(
    "upgrade",
    "demo",
    at,
    "-n",
    "demo",
    "--set",
    "word=two,replicas=2",
    "--wait",
    "--timeout",
    "60s",
  );
  assert.equal(await word(), "two");
  const failed = await run(helm, ["upgrade", "demo", at, "-n", "demo", "--set", "replicas=x"], env);
  assert.notEqual(failed.code, 0);
  await call("rollback", "demo", "1", "-n", "demo", "--wait", "--timeout", "60s");
  assert.equal(await word(), "one");
  assert.match(await call("history", "demo", "-n", "demo"), /Rollback to 1/);
  await call("uninstall", "demo", "-n", "demo", "--wait");
  assert.doesNotMatch(await call("list", "-n", "demo"), /demo\s+demo/);
  process.stdout.write(`helm: install, upgrade, rollback and uninstall in ${Date.now() - started} ms\n`);
});
