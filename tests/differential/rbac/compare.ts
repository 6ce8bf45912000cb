/**
 * Asks a real kube-apiserver and our own evaluator the same questions and reports where they
 * differ: access reviews over random roles and bindings, the messages of refusals, escalation
 * checks, and token requests and reviews.
 *
 *     node tests/differential/rbac/compare.ts --kubeconfig FILE [--seed N] [--questions N]
 *
 * Works in a namespace and under names of its own, and deletes them. Exits with 1 when anything
 * differs.
 */
import { parseArgs } from "node:util";
import { seededRandom } from "@windlass/clock";
import {
  type Attributes,
  checkEscalation,
  createAuthorizer,
  forbiddenRequest,
  type RbacWrite,
  type RoleSource,
  readBootstrap,
  reviewSubjectAccess,
  type User,
} from "../../../packages/control-plane/src/auth/index.ts";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";
import { StatusError } from "../../../packages/control-plane/src/status.ts";
import { conclude } from "../tally.ts";
import { compareDeletions } from "./compare-deletions.ts";
import { compareReviews } from "./compare-reviews.ts";
import { randomQuestion, randomRbac } from "./random-rbac.ts";
import { openRealServer } from "./real-server.ts";

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    seed: { type: "string", default: "1" },
    questions: { type: "string", default: "300" },
  },
});
const kubeconfig = values.kubeconfig ?? process.env.KUBECONFIG;
if (!kubeconfig) throw new Error("say which server to compare with: --kubeconfig FILE");
const random = seededRandom(Number(values.seed));
const prefix = `rbac-diff-${values.seed}`;
const namespace = prefix;
const api = "/apis/rbac.authorization.k8s.io/v1";

await using real = openRealServer(kubeconfig);
const bootstrap = readBootstrap();
const made = randomRbac(random, prefix, namespace);
const inNamespace = (objects: readonly JsonObject[], wanted: string) =>
  objects.filter(({ metadata }) => (metadata as JsonObject).namespace === wanted);
const source: RoleSource = {
  revision: () => 1,
  clusterRoles: () => [...bootstrap.clusterRoles, ...made.clusterRoles],
  clusterRoleBindings: () => [...bootstrap.clusterRoleBindings, ...made.clusterRoleBindings],
  roles: (wanted) => inNamespace([...bootstrap.roles, ...made.roles], wanted),
  roleBindings: (wanted) => inNamespace([...bootstrap.roleBindings, ...made.roleBindings], wanted),
};
const authorizer = createAuthorizer(source);
const differences: string[] = [];
let compared = 0;

function compare(what: string, theirs: unknown, ours: unknown): void {
  compared += 1;
  const [a, b] = [JSON.stringify(theirs), JSON.stringify(ours)];
  if (a !== b) differences.push(`${what}\n  real ${a}\n  ours ${b}`);
}

try {
  await create();
  await settled();
  await compareDecisions(Number(values.questions));
  await compareRefusals();
  await compareEscalations();
  const comparison = { real, authorizer, namespace, prefix, compare };
  await compareReviews(comparison);
  await compareDeletions(comparison);
} finally {
  await remove();
}
for (const difference of differences) process.stdout.write(`${difference}\n`);
conclude({ name: "rbac", compared, differing: differences.length });

async function create(): Promise<void> {
  await real.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const all: [string, readonly JsonObject[]][] = [
    [`${api}/clusterroles`, made.clusterRoles],
    [`${api}/clusterrolebindings`, made.clusterRoleBindings],
    [`${api}/namespaces/${namespace}/roles`, made.roles],
    [`${api}/namespaces/${namespace}/rolebindings`, made.roleBindings],
  ];
  for (const [path, objects] of all) {
    for (const object of objects) {
      const { status, body } = await real.send("POST", path, object);
      if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    }
  }
}

/**
 * The real authorizer follows roles by watching; a last role that shows means that all before it
 * do.
 */
async function settled(): Promise<void> {
  const probe = { name: `${prefix}-probe` };
  const rules = [{ verbs: ["get"], nonResourceURLs: [`/${prefix}`] }];
  await real.send("POST", `${api}/clusterroles`, { metadata: probe, rules });
  await real.send("POST", `${api}/clusterrolebindings`, {
    metadata: probe,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: probe.name },
    subjects: [{ kind: "User", name: probe.name }],
  });
  const question = { user: probe.name, nonResourceAttributes: { verb: "get", path: `/${prefix}` } };
  for (let attempt = 0; attempt < 500; attempt++) {
    const { body } = await real.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      spec: question,
    });
    if ((body.status as { allowed: boolean }).allowed) return;
  }
  throw new Error("the real server's authorizer does not follow");
}

async function remove(): Promise<void> {
  await real.send("DELETE", `/api/v1/namespaces/${namespace}`);
  for (const name of [...made.clusterRoles, ...made.clusterRoleBindings].map(
    ({ metadata }) => (metadata as { name: string }).name,
  )) {
    await real.send("DELETE", `${api}/clusterroles/${name}`);
    await real.send("DELETE", `${api}/clusterrolebindings/${name}`);
  }
  await real.send("DELETE", `${api}/clusterroles/${prefix}-probe`);
  await real.send("DELETE", `${api}/clusterrolebindings/${prefix}-probe`);
}

/**
 * Which of several bindings allowed a request, or in which order missing roles are met, is chance
 * on the real server.
 */
function withoutChance(reason: unknown): unknown {
  if (typeof reason !== "string") return reason;
  if (reason.startsWith("RBAC: allowed by ")) return reason.replace(/by .*/, "by …");
  return reason.replace(/\[(.*)\]/, (_, list: string) => `[${list.split(", ").sort().join(", ")}]`);
}

async function compareDecisions(questions: number): Promise<void> {
  for (let index = 0; index < questions; index++) {
    const { user, attributes } = randomQuestion(random, prefix, namespace);
    const spec = {
      user: user.name,
      groups: [...user.groups],
      ...("path" in attributes ? { nonResourceAttributes: attributes } : { resourceAttributes: attributes }),
    };
    const { body } = await real.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec });
    const theirs = body.status as JsonObject;
    const ours = reviewOurs({ spec: spec as unknown as JsonObject });
    compare(
      `review of ${JSON.stringify(spec)}`,
      { ...theirs, reason: withoutChance(theirs.reason) },
      { ...ours, reason: withoutChance(ours.reason) },
    );
    const single = oneReason(user, attributes);
    if (single) compare(`reason of ${JSON.stringify(spec)}`, theirs.reason, ours.reason);
  }
}

/** Whether only one binding reaches the user there, so that the reason leaves nothing to chance. */
function oneReason(user: User, attributes: Attributes): boolean {
  const scope = "path" in attributes ? "" : (attributes.namespace ?? "");
  const reaching = [
    ...source.clusterRoleBindings(),
    ...(scope === "" ? [] : source.roleBindings(scope)),
  ].filter(({ subjects }) =>
    (subjects as { kind: string; name: string; namespace?: string }[] | undefined)?.some(
      ({ kind, name, namespace: home }) =>
        (kind === "User" && name === user.name) ||
        (kind === "Group" && user.groups.includes(name)) ||
        user.name === `system:serviceaccount:${home}:${name}`,
    ),
  );
  return reaching.length === 1;
}

function reviewOurs(review: JsonObject): JsonObject {
  return reviewSubjectAccess(review, authorizer).status as JsonObject;
}

function impersonating(user: User): Record<string, string | string[]> {
  return {
    "impersonate-user": user.name,
    ...(user.groups.length > 0 ? { "impersonate-group": [...user.groups] } : {}),
  };
}

async function compareRefusals(): Promise<void> {
  const nobody: User = { name: `${prefix}-nobody "x"`, groups: ["system:authenticated"] };
  const bound = made.roleBindings.flatMap(({ subjects }) => subjects as { kind: string; name: string }[]);
  const users = [
    nobody,
    ...bound
      .filter(({ kind }) => kind === "User")
      .map(({ name }): User => ({ name, groups: ["system:authenticated"] })),
  ];
  const requests: [string, string, Attributes][] = [
    ["GET", "/api/v1/secrets", { verb: "list", group: "", resource: "secrets" }],
    [
      "GET",
      `/api/v1/namespaces/${namespace}`,
      { verb: "get", group: "", resource: "namespaces", name: namespace, namespace },
    ],
    [
      "GET",
      `/api/v1/namespaces/${namespace}/events?watch=1`,
      { verb: "watch", group: "", resource: "events", namespace },
    ],
    [
      "GET",
      `/api/v1/namespaces/${namespace}/events?fieldSelector=metadata.name%3Da`,
      { verb: "list", group: "", resource: "events", name: "a", namespace },
    ],
    [
      "DELETE",
      `/apis/batch/v1/namespaces/${namespace}/jobs`,
      { verb: "deletecollection", group: "batch", resource: "jobs", namespace },
    ],
    [
      "GET",
      `/apis/batch/v1/namespaces/${namespace}/jobs/x/status`,
      { verb: "get", group: "batch", resource: "jobs", subresource: "status", name: "x", namespace },
    ],
    ["POST", "/logs/x", { verb: "post", path: "/logs/x" }],
  ];
  for (const user of users) {
    for (const [method, path, attributes] of requests) {
      const decision = authorizer.authorize(user, attributes);
      if (decision.allowed) continue;
      const { body } = await real.send(method, path, undefined, impersonating(user));
      const ours = forbiddenRequest(user, attributes, decision.reason).toStatus();
      const sorted = (status: Record<string, unknown>) => ({
        ...status,
        message: withoutChance(status.message),
      });
      compare(`${method} ${path} as ${user.name}`, sorted(body), sorted(ours));
    }
  }
}

/**
 * Dry runs of roles and bindings by users who may write them, and hold whatever chance gave them
 * besides.
 */
async function compareEscalations(): Promise<void> {
  const writer = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${prefix}-writer` },
    rules: [{ verbs: ["create"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["*"] }],
  };
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: `${prefix}-writer` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `${prefix}-writer` },
    subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: `${prefix}-writers` }],
  };
  made.clusterRoles.push(writer);
  made.clusterRoleBindings.push(binding);
  await real.send("POST", `${api}/clusterroles`, writer);
  await real.send("POST", `${api}/clusterrolebindings`, binding);
  await settled();
  const held = createAuthorizer(source);
  for (let index = 0; index < 40; index++) {
    const { user: someone } = randomQuestion(random, prefix, namespace);
    const user = { ...someone, groups: [...someone.groups, `${prefix}-writers`, "system:authenticated"] };
    const wish = randomRbac(random, prefix, namespace);
    const writes: [RbacWrite["resource"], JsonObject | undefined][] = [
      ["clusterroles", wish.clusterRoles[0]],
      ["roles", wish.roles[0]],
      ["clusterrolebindings", wish.clusterRoleBindings[0]],
      ["rolebindings", wish.roleBindings[0]],
    ];
    for (const [resource, object] of writes) {
      if (!object) continue;
      const named: JsonObject = {
        ...object,
        metadata: { ...(object.metadata as JsonObject), name: `${prefix}-new` },
      };
      const path = resource.startsWith("cluster")
        ? `${api}/${resource}`
        : `${api}/namespaces/${namespace}/${resource}`;
      const { status, body } = await real.send("POST", `${path}?dryRun=All`, named, impersonating(user));
      compare(
        `${resource} by ${JSON.stringify(user)}: ${JSON.stringify(named.rules ?? named.roleRef)}`,
        status === 201 ? "allowed" : { ...body, message: withoutChanceIn(body.message) },
        outcome(() => checkEscalation(user, { resource, object: named }, held)),
      );
    }
  }
}

/** Errors met while resolving roles come in any order. */
function withoutChanceIn(message: unknown): unknown {
  return typeof message === "string"
    ? message.replace(
        /(errors: \[\[)(.*)\]\]/,
        (_, start: string, list: string) => `${start}${list.split(", ").sort().join(", ")}]]`,
      )
    : message;
}

function outcome(check: () => void): unknown {
  try {
    check();
    return "allowed";
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const status = error.toStatus();
    return { ...status, message: withoutChanceIn(status.message) };
  }
}
