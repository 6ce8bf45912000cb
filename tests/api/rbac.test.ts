import { applyManifest, kindOfManifest } from "@windlass/client";
import {
  type Controller,
  child,
  condition,
  controller,
  defineResource,
  manager,
  type PolicyRule,
  rbacFor,
} from "@windlass/runtime";
import { ConfigMap, EventV1, Secret, ServiceAccount } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keepLog } from "./logged.ts";

/** On a busy machine even what happens at once takes its time. */
const soon = { timeout: 10_000 };

/**
 * Uses everything that a role is generated for: children, status, a finalizer, events, a watched
 * kind, and one more right.
 */
const Vault = defineResource({
  group: "rbac.windlass.dev",
  version: "v1",
  kind: "Vault",
  spec: z.object({ drawers: z.int32().min(0).default(1) }),
  status: z.object({ drawers: z.int32().optional() }),
});

const vault = controller(Vault, {
  owns: [ConfigMap],
  reads: [Secret],
  permissions: [{ kind: ServiceAccount, verbs: ["get"] }],
  rateLimit: { initial: 20, max: 500 },
  async reconcile({ metadata: { name, namespace }, spec }, { cache, live, ownedAll }) {
    await live.get(ServiceAccount, { namespace, name: "operator" });
    const secrets = cache.list(Secret, { namespace }).length;
    const drawers = ownedAll(ConfigMap).length;
    return {
      children: Array.from({ length: spec.drawers }, (_, index) =>
        child(ConfigMap, { metadata: { name: `${name}-${index}` }, data: { secrets: String(secrets) } }),
      ),
      status: { drawers, conditions: [condition("Ready", drawers === spec.drawers, "Filled")] },
      events: [{ reason: "Filled", message: "the drawers are filled" }],
    };
  },
  finalize: () => undefined,
});

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Vault);
}, 90_000);
afterAll(() => cluster.close(), 60_000);

type Edit = (rules: readonly PolicyRule[]) => readonly PolicyRule[];

/**
 * Runs the operator as a service account that has its generated role, and nothing else. `edit`
 * takes something away from it.
 */
async function runUnderItsRole(
  options: { readonly clusterWide?: boolean; readonly edit?: Edit; readonly also?: Controller } = {},
) {
  const namespace = await cluster.createNamespace("rbac");
  const { clusterWide = false, edit = (rules) => rules } = options;
  const leaderElection = { name: "vault-operator", namespace };
  const name = `vault-${namespace}`;
  const roles = rbacFor([vault], {
    name,
    ...(clusterWide ? {} : { namespaces: [namespace] }),
    leaderElection,
    serviceAccount: { namespace, name: "operator" },
  });
  const client = await cluster.clientFor(namespace, "operator");
  for (const role of roles) {
    const object = "rules" in role ? { ...role, rules: edit(role.rules) } : role;
    const kind = await kindOfManifest(cluster.client, object);
    await applyManifest(cluster.client, object);
    onTestFinished(async () => {
      await cluster.client.delete(kind, role.metadata);
    });
  }
  const { log, lines } = keepLog();
  const running = await cluster.run("vault", (given) => {
    const made = manager({
      ...given,
      client,
      log,
      ...(clusterWide ? {} : { namespaces: [namespace] }),
      leaderElection: { ...leaderElection, identity: namespace, retryPeriod: 100 },
      cacheSyncTimeout: 2_000,
    }).add(vault);
    return options.also ? made.add(options.also) : made;
  });
  onTestFinished(() => running.stop());
  return { namespace, key: { namespace, name: "bank" }, lines, running };
}

/** Takes one verb on one resource away. */
const without =
  (verb: string, resource: string): Edit =>
  (rules) =>
    rules.flatMap((rule) => {
      if (!rule.resources.includes(resource) || !rule.verbs.includes(verb)) return [rule];
      const others = rule.resources.filter((one) => one !== resource);
      const verbs = rule.verbs.filter((one) => one !== verb);
      return [
        ...(others.length > 0 ? [{ ...rule, resources: others }] : []),
        ...(verbs.length > 0 ? [{ ...rule, resources: [resource], verbs }] : []),
      ];
    });

test.for([
  ["in one namespace", { clusterWide: false }],
  ["in the whole cluster", { clusterWide: true }],
] as const)("an operator works under exactly the role that is generated for it, %s", async ([, options]) => {
  const { key, namespace, lines } = await runUnderItsRole(options);
  await cluster.client.create(Vault, { metadata: key, spec: { drawers: 2 } });
  await waitForCondition(cluster.client, Vault, key, "Ready");
  await cluster.client.patch(Vault, key, { type: "merge", patch: { spec: { drawers: 1 } } });
  await waitForDeletion(cluster.client, ConfigMap, { namespace, name: "bank-1" });
  await waitFor(cluster.client, Vault, key, ({ status }) => status?.drawers === 1);
  await expect
    .poll(
      async () => (await cluster.client.list(EventV1, { namespace })).items.map(({ reason }) => reason),
      soon,
    )
    .toContain("Filled");
  await cluster.client.delete(Vault, key);
  await waitForDeletion(cluster.client, Vault, key);
  expect(lines).toEqual([]);
});

const user = (namespace: string) => `User "system:serviceaccount:${namespace}:operator"`;

test.for([
  ["create", "configmaps", ""],
  ["patch", "configmaps", ""],
  ["get", "serviceaccounts", ""],
  ["patch", "vaults", "rbac.windlass.dev"],
  ["patch", "vaults/status", "rbac.windlass.dev"],
] as const)(
  "without the right to %s %s, one line says so, and so does the object if it can",
  async ([verb, resource, group]) => {
    const { key, namespace, lines } = await runUnderItsRole({ edit: without(verb, resource) });
    await cluster.client.create(Vault, { metadata: key, spec: {} });
    const fault = `${user(namespace)} cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${namespace}"`;
    const about = () => lines.filter((line) => line.includes(fault));
    await expect.poll(about, soon).toHaveLength(1);
    expect(about()[0]).toContain(
      `grant it: a Role in namespace ${namespace} with the rule {apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}, bound to ServiceAccount ${namespace}/operator by a RoleBinding`,
    );
    // However many objects lack the right, and however often they are tried again.
    await cluster.client.create(Vault, { metadata: { ...key, name: "another" }, spec: {} });
    if (resource === "vaults/status") return;
    for (const name of [key.name, "another"]) {
      const failed = await waitForCondition(cluster.client, Vault, { namespace, name }, "Ready", "False");
      expect(failed.status?.conditions).toMatchObject([{ reason: "Forbidden" }]);
    }
    expect(about()).toHaveLength(1);
  },
);

test("without the right to list a kind, one line names it, its controller waits, and the others work", async () => {
  const seen: string[] = [];
  const accounts = controller(ConfigMap, {
    name: "looker",
    reconcile: ({ metadata: { name } }) => void seen.push(name),
  });
  const { key, namespace, lines, running } = await runUnderItsRole({
    edit: (rules) => without("watch", "secrets")(without("list", "secrets")(rules)),
    also: accounts,
  });
  await cluster.client.create(Vault, { metadata: key, spec: {} });
  const about = () => lines.filter((line) => line.startsWith("cannot list Secret (v1); trying again"));
  await expect.poll(() => about()[0], soon).toContain(user(namespace));
  await expect.poll(() => running.isLeading, soon).toBe(true);
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "to-look-at" } });
  await expect.poll(() => seen, soon).toContain("to-look-at");
  expect((await cluster.client.get(Vault, key)).status).toBeUndefined();
  expect(about()).toEqual([
    `cannot list Secret (v1); trying again. rbacFor(…) makes the roles that controllers need: secrets is forbidden: ${user(namespace)} cannot list resource "secrets" in API group "" in the namespace "${namespace}"; grant it: a Role in namespace ${namespace} with the rule {apiGroups: [""], resources: ["secrets"], verbs: ["list"]}, bound to ServiceAccount ${namespace}/operator by a RoleBinding`,
  ]);
});

test("without the right to write events, one line says so, and everything else works", async () => {
  const { key, namespace, lines } = await runUnderItsRole({ edit: without("create", "events") });
  await cluster.client.create(Vault, { metadata: key, spec: {} });
  await cluster.client.create(Vault, { metadata: { ...key, name: "another" }, spec: {} });
  for (const name of [key.name, "another"])
    await waitForCondition(cluster.client, Vault, { namespace, name }, "Ready");
  await expect.poll(() => lines, soon).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^events cannot be written for lack of a right; going on without them: .* grant it: a Role in namespace .* resources: \["events"\], verbs: \["create"\]/,
  );
});

test("without rights on the lease, the log reports it, and no replica leads", async () => {
  const { namespace, lines, running } = await runUnderItsRole({
    edit: (rules) => rules.filter(({ resources }) => !resources.includes("leases")),
  });
  const fault = `cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "${namespace}"`;
  await expect.poll(() => lines.filter((line) => line.includes(fault)), soon).toHaveLength(1);
  expect(running.isLeading).toBe(false);
});
