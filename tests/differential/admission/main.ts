import { parseArgs } from "node:util";
import { differences, show } from "../differences.ts";
import { conclude } from "../tally.ts";
import { type Case, cases, defaultSendings, thingGroup } from "./cases.ts";
import { cleanConversions, conversionCases, playConversion, prepareConversions } from "./conversions.ts";
import { type HookServer, openHooks } from "./hook-server.ts";
import { normal, normalReview } from "./normal.ts";
import { type PolicyCase, policyCases } from "./policies.ts";
import { openEmbedded, openReal, type Server } from "./servers.ts";

/**
 * Plays the same requests past admission webhooks, policies and conversion webhooks of a real API
 * server and of the embedded one, and prints where their answers, or what they send to the
 * webhooks, differ.
 *
 *   node tests/differential/admission/main.ts --kubeconfig FILE --host ADDRESS [--only CASE]
 *
 * ADDRESS is one of this machine's that the real server can reach.
 */
const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    host: { type: "string" },
    only: { type: "string" },
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
const chosen = cases.filter(wanted);
const policies = policyCases.filter(wanted);
const conversions = values.only === undefined ? conversionCases : [];

try {
  await Promise.all(servers.map((server) => prepare(server, hooks)));
  let compared = 0;
  let differing = 0;
  const compare = async (name: string, playOn: (server: Server) => Promise<unknown[]>) => {
    const [real, embedded] = [await playOn(servers[0] as Server), await playOn(servers[1] as Server)];
    for (const [index, answer] of real.entries()) {
      compared++;
      const found = differences(answer, embedded[index]);
      if (found.length === 0) continue;
      differing++;
      process.stdout.write(`${name} #${index}\n${found.map((each) => show(each)).join("\n")}\n`);
    }
  };
  for (const one of [...chosen, ...policies]) await compare(one.name, (server) => play(server, one));
  for (const one of conversions) {
    await compare(`conversion: ${one.name}`, (server) => playConversion(server, hooks, one));
  }
  conclude({ name: "admission", compared, differing });
} finally {
  for (const server of servers) {
    await clean(server);
    await cleanConversions(server, hooks);
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
  await prepareConversions(server, hooks);
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

async function play(server: Server, one: Case | PolicyCase): Promise<unknown[]> {
  const at = { namespace, labels: { case: one.name }, name: one.name };
  const played: unknown[] = [];
  for (const sending of (one.sendings ?? defaultSendings)(at)) {
    await server.catchUp();
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
