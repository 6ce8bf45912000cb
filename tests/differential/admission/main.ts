import { isDeepStrictEqual, parseArgs } from "node:util";
import { type Case, cases, defaultSendings, thingGroup } from "./cases.ts";
import { type HookServer, openHooks } from "./hook-server.ts";
import { normal, normalReview } from "./normal.ts";
import { type PolicyCase, policyCases } from "./policies.ts";
import { openEmbedded, openReal, type Server } from "./servers.ts";

/**
 * Plays the same webhooks and requests against a real API server and the embedded one, and prints where their answers, or what
 * they send to the webhooks, differ.
 *
 *   node tests/differential/admission/main.ts --kubeconfig FILE --host ADDRESS [--policies] [--only CASE]
 *
 * ADDRESS is one of this machine's that the real server can reach.
 */
const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    host: { type: "string" },
    only: { type: "string" },
    policies: { type: "boolean" },
    verbose: { type: "boolean" },
  },
});
if (values.kubeconfig === undefined || values.host === undefined) {
  process.stderr.write("--kubeconfig FILE and --host ADDRESS are needed\n");
  process.exit(2);
}
const policyPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const bindingPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const thingDefinition = {
  metadata: { name: `things.${thingGroup}` },
  spec: {
    group: thingGroup,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                a: { type: "string" },
                b: { type: "string" },
                c: { type: "string", default: "x" },
              },
            },
          },
        },
      },
    })),
  },
};
const hooks = await openHooks(values.host);
const servers = [openReal(values.kubeconfig), await openEmbedded()];
const namespace = `admission-${process.pid}`;
const wanted = ({ name }: { name: string }) => values.only === undefined || name === values.only;
const chosen = values.policies ? [] : cases.filter(wanted);
const policies = values.policies ? policyCases.filter(wanted) : [];

try {
  await Promise.all(servers.map((server) => prepare(server, hooks)));
  let differences = 0;
  for (const one of [...chosen, ...policies]) {
    const [real, embedded] = [await play(servers[0] as Server, one), await play(servers[1] as Server, one)];
    if (values.verbose) process.stdout.write(`${one.name}: ${JSON.stringify(real, null, 1)}\n`);
    if (isDeepStrictEqual(real, embedded)) continue;
    differences++;
    process.stdout.write(`\n${one.name}\n`);
    report(real, embedded, "");
  }
  process.stdout.write(`\n${chosen.length + policies.length} cases, ${differences} differ\n`);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  for (const server of servers) {
    await clean(server);
    await server.close();
  }
  await hooks.close();
}

function configurationPath(kind: Case["kind"]): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
}

async function prepare(server: Server, { url, authority }: HookServer): Promise<void> {
  await server.send({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { name: namespace } },
  });
  await server.send({ method: "POST", path: definitions, body: thingDefinition });
  const caBundle = Buffer.from(authority).toString("base64");
  for (const kind of ["mutating", "validating"] as const) {
    if (chosen.length === 0) continue;
    const webhooks = chosen
      .filter((one) => one.kind === kind)
      .map((one) => {
        const { clientConfig, ...rest } = one.webhook ?? {};
        const given = JSON.parse(
          JSON.stringify(clientConfig ?? { url: `${url}/${one.name}`, caBundle })
            .replaceAll("HOOKS", url)
            .replaceAll("NAMESPACE", namespace),
        ) as object;
        return {
          name: `${one.name}.example.com`,
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          timeoutSeconds: 5,
          rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }],
          objectSelector: { matchLabels: { case: one.name } },
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
          clientConfig: given,
          ...rest,
        };
      });
    const made = await server.send({
      method: "POST",
      path: configurationPath(kind),
      body: { metadata: { name: namespace }, webhooks },
    });
    if (made.status !== 201) throw new Error(`${server.name}: ${JSON.stringify(made.body)}`);
  }
  await preparePolicies(server);
  for (const { name, behaviour } of chosen) hooks.behaviours.set(name, behaviour);
  await server.settle();
  await server.send({
    method: "POST",
    path: `/apis/${thingGroup}/v1/namespaces/${namespace}/things`,
    body: {
      apiVersion: `${thingGroup}/v1`,
      kind: "Thing",
      metadata: { name: "wanted", labels: { role: "params" } },
      spec: { a: "9" },
    },
  });
  await server.settle();
}

async function preparePolicies(server: Server): Promise<void> {
  for (const one of policies) {
    const name = `${namespace}-${one.name}`;
    const made = [
      await server.send({
        method: "POST",
        path: policyPath,
        body: {
          metadata: { name },
          spec: {
            matchConstraints: {
              namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
              objectSelector: { matchLabels: { case: one.name } },
              resourceRules: [
                { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] },
              ],
            },
            ...one.policy,
          },
        },
      }),
      await server.send({
        method: "POST",
        path: bindingPath,
        body: { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"], ...one.binding } },
      }),
    ];
    const failed = made.find(({ status }) => status !== 201);
    if (failed) throw new Error(`${server.name}: ${one.name}: ${JSON.stringify(failed.body)}`);
  }
}

async function play(server: Server, one: Case | PolicyCase): Promise<unknown> {
  const at = { namespace, labels: { case: one.name }, name: one.name };
  const played: unknown[] = [];
  for (const sending of (one.sendings ?? defaultSendings)(at)) {
    hooks.seen.length = 0;
    const answer = await server.send(sending);
    const reviews = hooks.seen.map(({ path, headers, review }) => ({
      path,
      agent: headers["user-agent"],
      accept: headers.accept,
      review: normalReview(review),
    }));
    played.push({ answer: normal(answer), reviews });
  }
  return played;
}

async function clean(server: Server): Promise<void> {
  for (const kind of ["mutating", "validating"] as const) {
    await server.send({ method: "DELETE", path: `${configurationPath(kind)}/${namespace}` });
  }
  await server.send({ method: "DELETE", path: `${definitions}/things.${thingGroup}` });
  for (const one of policies) {
    await server.send({ method: "DELETE", path: `${bindingPath}/${namespace}-${one.name}` });
    await server.send({ method: "DELETE", path: `${policyPath}/${namespace}-${one.name}` });
  }
  await server.send({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
}

function report(real: unknown, embedded: unknown, path: string): void {
  if (isDeepStrictEqual(real, embedded)) return;
  const both = [real, embedded];
  if (both.every((value) => typeof value === "object" && value !== null)) {
    const [left, right] = both as Record<string, unknown>[];
    for (const key of new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])) {
      report(left?.[key], right?.[key], `${path}/${key}`);
    }
    return;
  }
  process.stdout.write(
    `  ${path}\n    real     ${JSON.stringify(real)}\n    embedded ${JSON.stringify(embedded)}\n`,
  );
}
