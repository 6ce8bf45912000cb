import { ManualClock, seededRandom } from "@windlass/clock";
import {
  type Authorizer,
  createTokens,
  requestToken,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
  reviewSubjectAccess,
  reviewToken,
  type User,
} from "../../../packages/control-plane/src/auth/index.ts";
import { isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { StatusError } from "../../../packages/control-plane/src/status.ts";
import type { RealServer, ServerResponse } from "./real-server.ts";

/** What the comparison of reviews works with. */
export interface ReviewComparison {
  readonly real: RealServer;
  readonly authorizer: Authorizer;
  readonly namespace: string;
  readonly prefix: string;
  readonly compare: (what: string, theirs: unknown, ours: unknown) => void;
}

/** Well and badly formed reviews of each kind, and tokens bound to what there is and is not. */
export async function compareReviews(given: ReviewComparison): Promise<void> {
  const { real, namespace, compare, authorizer, prefix } = given;
  const found = new Map<string, JsonObject>();
  const keep = async (resource: string, object: JsonObject) => {
    const { body } = await real.send("POST", `/api/v1/namespaces/${namespace}/${resource}`, object);
    found.set(`${resource}/${namespace}/${(object.metadata as { name: string }).name}`, body as JsonObject);
  };
  await keep("serviceaccounts", { metadata: { name: "sa-0" } });
  await keep("secrets", { metadata: { name: "bound" } });
  const clock = new ManualClock(Math.floor(Date.now() / 1000) * 1000);
  const tokens = createTokens({
    clock,
    random: seededRandom(1),
    find: (resource, home, name) => found.get(`${resource}/${home}/${name}`),
  });
  const admin: User = { name: "admin", groups: ["system:masters", "system:authenticated"] };
  const access = "/apis/authorization.k8s.io/v1";

  const attributes: JsonObject[] = [
    {},
    { resourceAttributes: { verb: "get", resource: "pods", namespace } },
    { resourceAttributes: { verb: "get", resource: "pods" } },
    { nonResourceAttributes: { verb: "get", path: "/x" } },
    { resourceAttributes: { verb: "get" }, nonResourceAttributes: { verb: "get", path: "/x" } },
    { resourceAttributes: { verb: "get", fieldSelector: {}, labelSelector: { rawSelector: "a=b" } } },
    {
      resourceAttributes: {
        verb: "get",
        fieldSelector: { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] },
        labelSelector: {
          requirements: [
            { key: "a", operator: "In" },
            { key: "b", operator: "DoesNotExist", values: ["x"] },
            { key: "c", operator: "NotIn", values: ["x"] },
          ],
        },
      },
    },
  ];
  for (const asked of attributes) {
    for (const subject of [{}, { user: "x" }, { groups: ["system:masters"] }]) {
      const review = { spec: { ...asked, ...subject } };
      await check(
        `SubjectAccessReview ${JSON.stringify(review)}`,
        `${access}/subjectaccessreviews`,
        review,
        () => reviewSubjectAccess(review, authorizer),
      );
      const local = `${access}/namespaces/${namespace}/localsubjectaccessreviews`;
      await check(`LocalSubjectAccessReview ${JSON.stringify(review)}`, local, review, () =>
        reviewLocalAccess(review, namespace, authorizer),
      );
    }
    const own = { spec: asked };
    await check(
      `SelfSubjectAccessReview ${JSON.stringify(own)}`,
      `${access}/selfsubjectaccessreviews`,
      own,
      () => reviewOwnAccess(own, admin, authorizer),
    );
  }

  for (const name of [`${prefix}-user-0`, `${prefix}-user-1`, "someone"]) {
    const review = { spec: { namespace } };
    const user: User = { name, groups: ["system:authenticated"] };
    const theirs = await real.send("POST", `${access}/selfsubjectrulesreviews`, review, {
      "impersonate-user": name,
    });
    compare(
      `rules of ${name}`,
      unordered(theirs.body as JsonObject),
      unordered(reviewOwnRules(review, user, authorizer)),
    );
  }

  const account = found.get(`serviceaccounts/${namespace}/sa-0`) ?? {};
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/sa-0/token`;
  const bind = (kind: string, name: string, more: JsonObject = {}) => ({
    spec: { boundObjectRef: { apiVersion: "v1", kind, name, ...more } },
  });
  const requests: JsonObject[] = [
    {},
    { spec: { expirationSeconds: 599 } },
    { spec: { expirationSeconds: 600, audiences: ["a", "b"] } },
    { spec: { expirationSeconds: 2 ** 32 + 1 } },
    { metadata: { name: "other" } },
    { metadata: { namespace: "other" } },
    bind("Secret", "bound"),
    bind("Secret", "bound", { uid: "other" }),
    bind("Secret", ""),
    bind("Secret", "missing"),
    bind("Pod", "missing"),
    bind("Node", "missing"),
    bind("ConfigMap", "x"),
    bind("Pod", "x", { apiVersion: "apps/v1" }),
  ];
  for (const request of requests) {
    await check(`TokenRequest ${JSON.stringify(request)}`, path, request, () =>
      requestToken(request, account, { tokens, clock }),
    );
  }

  const reviews: JsonObject[] = [{}, { token: "noise" }, { token: "a.b.c", audiences: ["x"] }];
  for (const spec of reviews) {
    const review = { spec };
    await check(
      `TokenReview ${JSON.stringify(spec)}`,
      "/apis/authentication.k8s.io/v1/tokenreviews",
      review,
      () => reviewToken(review, tokens),
    );
  }
  for (const request of [requests[0], requests[2], requests[6]]) {
    const theirs = await real.send("POST", path, request);
    const ours = await requestToken(request ?? {}, account, { tokens, clock });
    for (const audiences of [undefined, ["a"], ["a", "z"], ["z"]]) {
      const reviewOf = (answer: JsonObject) => ({
        spec: { token: (answer.status as { token: string }).token, ...(audiences ? { audiences } : {}) },
      });
      const answered = await real.send(
        "POST",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        reviewOf(theirs.body as JsonObject),
      );
      compare(
        `review of a token for ${JSON.stringify(request)} against ${JSON.stringify(audiences)}`,
        normal(answered.body as JsonObject),
        normal(await reviewToken(reviewOf(ours), tokens)),
      );
    }
  }

  async function check(
    what: string,
    target: string,
    body: JsonObject,
    ours: () => JsonObject | Promise<JsonObject>,
  ): Promise<void> {
    const theirs: ServerResponse = await real.send("POST", target, body);
    compare(what, normal(theirs.body as JsonObject), normal(await answerOf(ours)));
  }
}

async function answerOf(ours: () => JsonObject | Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await ours();
  } catch (error) {
    if (error instanceof StatusError) return error.toStatus();
    throw error;
  }
}

/**
 * Leaves out what must differ: tokens, their ids, times, and the managedFields that storage writes.
 */
function normal(value: JsonObject): Json {
  return JSON.parse(
    JSON.stringify(value, (key, item: unknown) => {
      if (key === "managedFields") return undefined;
      if (key === "token" && typeof item === "string" && item.startsWith("eyJ")) return "JWT";
      if (key === "creationTimestamp" || key === "expirationTimestamp") return "time";
      if (key === "authentication.kubernetes.io/credential-id") return "id";
      return isObject(item) ? sortedKeys(item) : item;
    }),
  ) as Json;
}

function sortedKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Rules come in the order of bindings, which is chance on the real server. */
function unordered(review: JsonObject): Json {
  const status = review.status as JsonObject;
  const sorted = (rules: Json | undefined) =>
    (rules as JsonObject[]).map((rule) => JSON.stringify(sortedKeys(rule))).sort();
  const error = status.evaluationError;
  return {
    ...sortedKeys(review),
    status: {
      ...sortedKeys(status),
      resourceRules: sorted(status.resourceRules),
      nonResourceRules: sorted(status.nonResourceRules),
      ...(typeof error === "string"
        ? {
            evaluationError: error
              .split(/[[\],] ?/)
              .sort()
              .join(","),
          }
        : {}),
    },
  };
}
